import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createVideo } from '../../../../core/creation/create-video.ts';
import type { ClipMeasure } from '../../../../core/creation/create-video-rules.ts';
import type { CreationFacts } from '../../../../core/creation/creation-facts.ts';
import { idempotencyOf } from '../../../../core/creation/idempotency.ts';
import type { ProviderId } from '../../../../core/provider-calls/providers.ts';
import { accountKey, ledgerPartition, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { aVideoBody, urlsOf } from '../../builders/bodies.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, aVideoRequest, EMAIL } from '../../builders/entities.ts';
import { aVideoSubmission } from '../../builders/submissions.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
beforeEach(() => {
  memory.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  executions.reset();
});

const measuring = (...seconds: (number | string)[]) =>
  jest.fn(async (_urls: readonly string[]) =>
    seconds.map(
      (one): ClipMeasure => (typeof one === 'string' ? { problem: one } : { durationMs: one * 1000 }),
    ),
  );
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
  return createVideo(anAccount(account), submission, theFacts(facts), measure);
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

    expect(measure.mock.calls).toEqual([[referenceVideos]]);
    expect(request).toMatchObject({
      durationSec: 5,
      billedSeconds: 12,
      unitPriceThousandths: 3_000,
      debitThousandths: 36_000,
      referenceVideos,
    });
    expect(memory.get(requestKey(request.requestId))).toMatchObject({ billedSeconds: 12 });
  });

  test('is refused when one cannot be measured, along with other wrong fields, and writes nothing', async () => {
    await expect(create({ ...body, ratio: '21:9' }, measuring(3, 'has no duration'))).rejects.toMatchObject({
      code: 'validation_error',
      fields: {
        ratio: 'must be one of adaptive, 16:9, 4:3, 1:1, 3:4, 9:16',
        'referenceVideos[1]': 'has no duration',
      },
    });
    nothingWritten();
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

  test('is refused for a model that cannot be dispatched and for wrong clips together', async () => {
    const facts = { credentials: new Set<ProviderId>() };

    await expect(create(body, measuring(3, 'is no video'), { facts })).rejects.toMatchObject({
      fields: { model: 'cannot be dispatched now', 'referenceVideos[1]': 'is no video' },
    });
  });

  test('is refused for them before its end-user and its price', async () => {
    const others = { facts: { endUser: anEndUser({ blockedAt: 'x' }) }, account: POOR };

    await expect(create(body, measuring(3, 'is no video'), others)).rejects.toMatchObject({
      code: 'validation_error',
    });
    await expect(create(body, measuring(3, 3), others)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(create(body, measuring(3, 3), { account: POOR })).rejects.toMatchObject({
      code: 'payment_required',
    });
    nothingWritten();
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

  test('whose key was used with another body is measured, then a conflict', async () => {
    const facts = { idempotencyRecord: { requestId: 'vid_1', fingerprint: 'another' } };

    await expect(create(body, measuring(3, 3), { facts })).rejects.toMatchObject({ code: 'conflict' });
    await expect(create(body, measuring(3, 'is no video'), { facts })).rejects.toMatchObject({
      code: 'validation_error',
    });
    nothingWritten();
  });
});
