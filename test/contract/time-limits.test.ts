import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import {
  type AnyRecord,
  accepted,
  type Caller,
  callerWith,
  eventually,
  read,
  settled,
  unique,
} from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { entriesOf, expectUnbrokenChain } from './support/ledger.ts';
import { discard, newDataDir, type RunningService, startLocalService } from './support/local-service.ts';

const OUTPUT_TTL_SECONDS = 5;
const RETENTION_SECONDS = 4.32;

let service: RunningService;
let caller: Caller;
beforeAll(async () => {
  service = await startLocalService(await newDataDir(), {
    context: {
      imageDeadlineSeconds: 4,
      outputTtlSeconds: OUTPUT_TTL_SECONDS,
      retentionDays: RETENTION_SECONDS / 86_400,
      pollIntervalSeconds: 1,
    },
  });
  caller = callerWith(service, service.accountId, service.apiKey);
});
afterAll(() => discard(service));

const UNFINISHED: [how: string, body: Record<string, unknown>, price: number][] = [
  ['in a call', { model: 'xZI1.0Pro' }, 1],
  ['in several concurrent calls', { model: 'xSD4.5', n: 2 }, 8],
  ['as a task', { model: 'xQI3Pro', size: '512x512' }, 4],
];

describe('A request the provider never finishes', () => {
  const ended = new Map<string, AnyRecord>();
  beforeAll(async () => {
    const createAndSettle = async ([how, body]: (typeof UNFINISHED)[number]) => {
      const { requestId } = await accepted(caller, { ...body, prompt: unique('[fail=timeout]') });
      ended.set(how, await settled(caller, requestId));
    };
    await Promise.all(UNFINISHED.map(createAndSettle));
  });

  test.each(UNFINISHED)(
    '%s fails with provider_timeout at its deadline and is refunded',
    async (how, _body, price) => {
      const { requestId = '', status, error, createdAt = '', finishedAt = '' } = ended.get(how) ?? {};

      expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'provider_timeout' });
      const secondsTaken = (Date.parse(finishedAt) - Date.parse(createdAt)) / 1000;
      expect(secondsTaken).toBeGreaterThanOrEqual(4);
      expect(secondsTaken).toBeLessThan(15);
      expect(await entriesOf(caller, requestId)).toEqual([
        ['refund', price],
        ['generation', price],
      ]);
    },
  );
});

describe('A succeeded request', () => {
  let requestId: string;
  let expiresAt: number;
  let url: string | undefined;

  test('is readable, with its files, until expiresAt', async () => {
    ({ requestId } = await accepted(caller, {
      model: 'xZI1.0Pro',
      size: '256x256',
      endUserEmail: 'never-timed-out@example.com',
    }));

    const { status, images = [], finishedAt = '' } = await settled(caller, requestId);

    expect(status).toBe('succeeded');
    url = images[0]?.url;
    expiresAt = Date.parse(images[0]?.expiresAt ?? '');
    expect(expiresAt - Date.parse(finishedAt)).toBe(OUTPUT_TTL_SECONDS * 1000);
    expect((await fetchFile(url)).status).toBe(200);
  });

  test('reads expired from expiresAt on, with exactly the fields of that status', async () => {
    await eventually(
      () => read(caller, requestId),
      ({ status }) => status !== 'succeeded',
    );
    const seenAt = Date.now();

    expect(seenAt).toBeGreaterThanOrEqual(expiresAt);
    const expired = await read(caller, requestId);
    expect(expired.status).toBe('expired');
    expect(Object.keys(expired).sort()).toEqual(
      [
        'requestId',
        'model',
        'status',
        'prompt',
        'referencesCount',
        'endUserEmail',
        'createdAt',
        'finishedAt',
      ].sort(),
    );
  });

  test('has no readable file after that', async () => {
    expect((await fetchFile(url)).status).toBe(403);
  });

  test('reads 404 after the retention time, even if TTL has not removed it', async () => {
    const answer = await eventually(
      () => caller.get(`/v1/generations/${requestId}`),
      ({ status }) => status !== 200,
    );

    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt + RETENTION_SECONDS * 1000);
    expect(refusal(answer)).toEqual([404, 'not_found']);
  });

  test('keeps its ledger entry', async () => {
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
    await expectUnbrokenChain(caller);
  });
});

test('A failed request reads 404 after the retention time', async () => {
  const { requestId } = await accepted(caller, {
    prompt: unique('[fail=provider_error]'),
    endUserEmail: 'never-timed-out@example.com',
  });
  const { finishedAt = '' } = await settled(caller, requestId);

  const answer = await eventually(
    () => caller.get(`/v1/generations/${requestId}`),
    ({ status }) => status !== 200,
  );

  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(finishedAt) + RETENTION_SECONDS * 1000);
  expect(refusal(answer)).toEqual([404, 'not_found']);
});
