import '../../builders/environment.ts';
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import type { ClipMeasure, Clips, MeasureClips } from '../../../../core/creation/clip-measuring.ts';
import { CLIP_PLACES, createVideo } from '../../../../core/creation/create-video.ts';
import type { CreationFacts } from '../../../../core/creation/creation-facts.ts';
import { idempotencyOf } from '../../../../core/creation/idempotency.ts';
import type { ProviderId } from '../../../../core/provider-calls/providers.ts';
import { accountKey, ledgerPartition, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { aVideoBody, urlsOf } from '../../builders/bodies.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, aVideoRequest, EMAIL } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aVideoSubmission } from '../../builders/submissions.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
const bedrock = mockClient(BedrockRuntimeClient);
beforeEach(() => {
  memory.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  executions.reset();
  discard.mockClear();
});

const measuring = (...seconds: (number | string)[]) =>
  jest.fn(async (_clips: Clips) =>
    seconds.map(
      (one): ClipMeasure =>
        typeof one === 'string'
          ? { problem: one }
          : { durationMs: one * 1000, ...(one <= 15 && { extension: 'mp4' }) },
    ),
  );
/** Removals of copies that no request was written for. */
const discard = jest.fn(async (_clips: Clips): Promise<void> => undefined);
const theFacts = (overrides: Partial<CreationFacts> = {}): CreationFacts => ({
  endUser: undefined,
  settings: undefined,
  credentials: new Set<ProviderId>(['modelstudio']),
  pausedSeconds: undefined,
  idempotencyRecord: undefined,
  ...overrides,
});
const create = async (
  body: Record<string, unknown> = {},
  measure = measuring(),
  { facts = {}, account = {} }: { facts?: Partial<CreationFacts>; account?: Partial<typeof POOR> } = {},
) => {
  const submission = aVideoSubmission(body, facts.idempotencyRecord && { idempotencyKey: 'key-1' });
  return createVideo(anAccount(account), submission, theFacts(facts), measure, undefined, discard);
};
const POOR = { balanceThousandths: 1 };
const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
const nothingWritten = () => {
  expect(memory.transactions).toEqual([]);
  expect(executions.started).toEqual([]);
};

describe('an accepted video', () => {
  test('is a queued request with every given field, priced by the second, with its execution started', async () => {
    const { request, replayed } = await create({
      resolution: '480p',
      durationSec: 7,
      ratio: '16:9',
      image: 'https://media.example.com/first.png',
      webhookUrl: 'https://hooks.example.com/',
    });

    expect(replayed).toBe(false);
    expect(request).toStrictEqual({
      kind: 'video',
      requestId: expect.stringMatching(/^vid_[0-9A-Z]{26}$/),
      accountId: ACCOUNT_ID,
      endUserId: request.requestId,
      model: 'xW3.0s',
      prompt: 'waves',
      endUserEmail: EMAIL,
      webhookUrl: 'https://hooks.example.com/',
      resolution: '480p',
      durationSec: 7,
      billedSeconds: 7,
      ratio: '16:9',
      image: 'https://media.example.com/first.png',
      referenceImages: [],
      referenceVideos: [],
      referenceAudios: [],
      unitPriceThousandths: 3_000,
      debitThousandths: 21_000,
      createdAt: NOW.toISOString(),
      retentionDays: 90,
      status: 'queued',
    });
    expect(memory.get(requestKey(request.requestId))).toMatchObject(request);
    expect(entries()).toMatchObject([{ amountThousandths: 21_000, reference: request.requestId }]);
    expect(executions.names('generation')).toEqual([request.requestId]);
  });

  test.each<[string, Record<string, unknown>, number]>([
    ['its default resolution', {}, 50_000],
    ['a cheaper resolution', { resolution: '720p' }, 30_000],
    ['a longer video', { durationSec: 10 }, 100_000],
    ['images and sounds, which cost nothing', { referenceImages: urlsOf('png', 3) }, 50_000],
  ])('is debited for %s', async (_, body, debit) => {
    expect((await create(body)).request.debitThousandths).toBe(debit);
  });

  test('is priced by the rate the operator set', async () => {
    const rate = { perSecond: { '480p': 0.001, '720p': 0.125, '1080p': 9 } };
    const facts = { settings: { model: 'xW3.0s', rate } };

    expect(await create({ resolution: '720p' }, measuring(), { facts })).toMatchObject({
      request: { unitPriceThousandths: 125, debitThousandths: 625 },
    });
  });

  test('measures nothing without reference videos', async () => {
    const measure = measuring();
    await create({ referenceImages: urlsOf('png', 3) }, measure);

    expect(measure).not.toHaveBeenCalled();
  });
});

describe('a video from reference videos', () => {
  const referenceVideos = urlsOf('mp4', 2);
  const body = { referenceVideos, resolution: '480p' };

  test('is billed for its own seconds and theirs together, rounded up', async () => {
    const measure = measuring(2.5, 3.6);

    const { request } = await create(body, measure);

    expect(measure.mock.calls).toEqual([
      [{ requestId: request.requestId, urls: referenceVideos, longestSeconds: 15 }],
    ]);
    expect(request).toMatchObject({
      durationSec: 5,
      billedSeconds: 12,
      unitPriceThousandths: 3_000,
      debitThousandths: 36_000,
      referenceVideos,
      clips: [`clips/${request.requestId}/0.mp4`, `clips/${request.requestId}/1.mp4`],
    });
    expect(memory.get(requestKey(request.requestId))).toMatchObject({ billedSeconds: 12 });
    expect(discard).not.toHaveBeenCalled();
  });

  test('is refused when one cannot be measured, and writes nothing', async () => {
    await expect(create(body, measuring(3, 'has no duration'))).rejects.toMatchObject({
      code: 'validation_error',
      fields: { 'referenceVideos[1]': 'has no duration' },
    });
    nothingWritten();
  });

  test('is not accepted when measuring fails, and the next one can be measured', async () => {
    const failing = jest.fn(() => Promise.reject(new Error('No answer.')));

    for (let attempt = 0; attempt <= CLIP_PLACES.account; attempt++) {
      await expect(create(body, failing as never)).rejects.toThrow('No answer.');
    }
    nothingWritten();
    expect(entries()).toEqual([]);
    expect(await create(body, measuring(3, 3))).toMatchObject({ request: { billedSeconds: 11 } });
  });

  test('is refused before any debit by a route that takes less and refuses early', async () => {
    const referenceVideos = ['https://a.example/1.mp4', 'https://a.example/2.mp4'];
    const body = { referenceVideos, durationSec: 2, resolution: '480p' };
    const route = { provider: 'modelstudio', upstreamModel: 'wan3.0-video', refusesEarly: true };
    const variables = { MODEL_ROUTES: JSON.stringify({ 'xW3.0s': route }) };

    await withEnvironment(variables, () =>
      expect(create(body, measuring(8, 7.001))).rejects.toMatchObject({
        code: 'validation_error',
        fields: { referenceVideos: 'must be at most 15 s long together' },
      }),
    );
    nothingWritten();
    await withEnvironment(variables, () =>
      expect(create(body, measuring(8, 7))).resolves.toMatchObject({ request: { billedSeconds: 17 } }),
    );
  });

  test('is refused when they are too long, alone and together', async () => {
    await expect(create(body, measuring(15.001, 15))).rejects.toMatchObject({
      fields: {
        'referenceVideos[0]': 'must be at most 15 s long',
        referenceVideos: 'must be at most 30 s long together with the output',
      },
    });
    nothingWritten();
  });

  test.each<[string, string, Parameters<typeof create>[2], Record<string, unknown>?]>([
    ['a wrong field', 'validation_error', {}, { ratio: '21:9' }],
    ['its model', 'validation_error', { facts: { credentials: new Set() } }],
    ['its key', 'conflict', { facts: { idempotencyRecord: { requestId: 'vid_1', fingerprint: 'another' } } }],
    ['its end-user', 'forbidden', { facts: { endUser: anEndUser({ blockedAt: 'x' }) } }],
    ['a pause', 'temporarily_unavailable', { facts: { pausedSeconds: 9 } }],
    ['the price of its output alone', 'payment_required', { account: { balanceThousandths: 14_999 } }],
  ])('is refused for %s before anything is measured', async (_, code, situation, wrong = {}) => {
    const measure = measuring(3, 'is no video');

    await expect(create({ ...body, ...wrong }, measure, situation)).rejects.toMatchObject({ code });
    expect(measure).not.toHaveBeenCalled();
    nothingWritten();
  });

  test('is refused for its clips before the price of their seconds', async () => {
    const account = { balanceThousandths: 15_000 };

    await expect(create(body, measuring(3, 'is no video'), { account })).rejects.toMatchObject({
      code: 'validation_error',
    });
    await expect(create(body, measuring(3, 3), { account })).rejects.toMatchObject({
      code: 'payment_required',
    });
    nothingWritten();
  });

  test('is judged by the content filter before anything is measured', async () => {
    const measure = measuring(3, 3);
    bedrock.on(ApplyGuardrailCommand).resolves({ action: 'GUARDRAIL_INTERVENED', assessments: [] } as never);

    await withEnvironment({ GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1' }, async () => {
      await expect(create(body, measure)).rejects.toMatchObject({ code: 'content_policy' });
    });
    expect(measure).not.toHaveBeenCalled();
  });

  test('is answered with the first one when repeated, without measuring', async () => {
    const first = aVideoRequest();
    memory.put(requestKey(first.requestId), first);
    const measure = measuring('is gone', 'is gone');
    const { fingerprint } = idempotencyOf('key-1', 'POST /v1/videos', aVideoBody(body));
    const facts = { idempotencyRecord: { requestId: first.requestId, fingerprint } };

    expect(await create(body, measure, { facts })).toEqual({ request: first, replayed: true });
    expect(measure).not.toHaveBeenCalled();
    nothingWritten();
  });
});

describe('copies of reference videos', () => {
  const body = { referenceVideos: urlsOf('mp4', 2), resolution: '480p' };
  const discarded = () => discard.mock.calls.map(([{ requestId, urls }]) => [requestId, urls.length]);

  test.each<[string, Parameters<typeof measuring>, Parameters<typeof create>[2]]>([
    ['one of them is no video', [3, 'is no video'], {}],
    ['they are too long together', [15, 15], {}],
    ['the balance does not cover their seconds', [3, 3], { account: { balanceThousandths: 15_000 } }],
  ])('are removed when %s', async (_, measures, situation) => {
    const measure = measuring(...measures);

    await expect(create(body, measure, situation)).rejects.toBeDefined();

    expect(discarded()).toEqual([[measure.mock.calls[0]?.[0].requestId, 2]]);
    nothingWritten();
  });

  test('are not looked for when none was made', async () => {
    await expect(create(body, measuring('is no video', 15.1))).rejects.toBeDefined();

    expect(discard).not.toHaveBeenCalled();
  });

  test('are removed when measuring failed, which may have left some', async () => {
    await expect(create(body, (() => Promise.reject(new Error('No answer.'))) as never)).rejects.toThrow();

    expect(discarded()).toEqual([[expect.stringMatching(/^vid_/), 2]]);
  });

  test('are removed when one was measured but not copied, and nothing is written', async () => {
    const measure = jest.fn(
      async (): Promise<ClipMeasure[]> => [{ durationMs: 1 }, { durationMs: 1, extension: 'mp4' }],
    );

    await expect(create(body, measure)).rejects.toThrow('not copied');

    expect(discarded()).toHaveLength(1);
    nothingWritten();
  });

  test('are removed when the same key created the request meanwhile', async () => {
    const submission = aVideoSubmission(body, { idempotencyKey: 'key-1' });
    const twin = async (measure: MeasureClips) =>
      createVideo(anAccount(), submission, theFacts(), measure, undefined, discard);
    let first: string | undefined;
    const measure = jest.fn(async (clips: Clips): Promise<ClipMeasure[]> => {
      first = (await twin(measuring(1, 1))).request.requestId;
      return clips.urls.map(() => ({ durationMs: 1_000, extension: 'mov' }));
    });

    const { request, replayed } = await twin(measure);

    expect([request.requestId, replayed]).toEqual([first, true]);
    const own = measure.mock.calls[0]?.[0].requestId;
    expect(own).not.toBe(first);
    expect(discarded()).toEqual([[own, 2]]);
  });

  test('stay when it is not known whether the request was written', async () => {
    memory.client.on(TransactWriteCommand).rejects(Object.assign(new Error(), { name: 'TimeoutError' }));

    await expect(create(body, measuring(3, 3))).rejects.toBeDefined();

    expect(discard).not.toHaveBeenCalled();
  });
});

describe('clips that are being measured', () => {
  /** Measures that end when told to. */
  const holding = () => {
    const ends: (() => void)[] = [];
    const measure = jest.fn(
      ({ urls }: Clips) =>
        new Promise<ClipMeasure[]>((resolve) =>
          ends.push(() => resolve(urls.map(() => ({ durationMs: 1_000, extension: 'mp4' })))),
        ),
    );
    return { measure, ends };
  };
  const clipsOn = (host: string) => ({ referenceVideos: [`https://${host}/a.mp4`, `https://${host}/b.mp4`] });
  const attempt = (accountId: string, host: string, measure: ReturnType<typeof holding>['measure']) => {
    const account = anAccount({ accountId });
    memory.put(accountKey(accountId), account);
    return createVideo(
      account,
      aVideoSubmission(clipsOn(host)),
      theFacts(),
      measure,
      undefined,
      discard,
    ).catch((error) => error);
  };
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise(setImmediate);
  };

  test('are few of an account: a further creation is 429, and nothing of it is fetched or written', async () => {
    const { measure, ends } = holding();
    const first = Array.from({ length: CLIP_PLACES.account }, (_, index) =>
      attempt(ACCOUNT_ID, `host-${index}.example.com`, measure),
    );
    await until(() => ends.length === CLIP_PLACES.account);

    const refused = await attempt(ACCOUNT_ID, 'another.example.com', measure);

    expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 });
    expect(measure).toHaveBeenCalledTimes(CLIP_PLACES.account);
    expect(memory.transactions).toEqual([]);
    for (const end of ends) end();
    await Promise.all(first);
    const next = attempt(ACCOUNT_ID, 'another.example.com', measure);
    await until(() => ends.length === CLIP_PLACES.account + 1);
    ends.at(-1)?.();
    await next;
  });

  test('are few of a host, whoever asks, and a refused creation holds no place of its account', async () => {
    const { measure, ends } = holding();
    const accounts = Array.from({ length: CLIP_PLACES.host }, (_, index) => `acc_${index}`);
    const first = accounts.map((accountId) => attempt(accountId, 'Slow.example.com', measure));
    await until(() => ends.length === CLIP_PLACES.host);

    for (let repeat = 0; repeat <= CLIP_PLACES.account; repeat++) {
      expect(await attempt('acc_late', 'slow.example.com.', measure)).toMatchObject({ code: 'rate_limited' });
    }
    const elsewhere = attempt('acc_late', 'fast.example.com', measure);
    await until(() => ends.length === CLIP_PLACES.host + 1);
    for (const end of ends) end();
    await Promise.all([...first, elsewhere]);
  });
});
