import { beforeEach, describe, expect, test } from '@jest/globals';
import { CATALOG, DEFAULT_RATES } from '../../../core/models/catalog.ts';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { inFlightKey, ledgerEntryKey, requestKey } from '../../../core/table/keys.ts';
import { handler as getBalance } from '../../../functions/api/get-balance.ts';
import { handler as getGeneration } from '../../../functions/api/get-generation.ts';
import { handler as getUsage } from '../../../functions/api/get-usage.ts';
import { handler as getVideo } from '../../../functions/api/get-video.ts';
import { handler as listModels } from '../../../functions/api/list-models.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anImageRequest,
  aStoredOutput,
  aVideoRequest,
  putModelSettings,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { RouteWorld } from '../builders/route-world.ts';

const world = new RouteWorld();
const { memory, secrets } = world;
beforeEach(() => world.reset());
const call = world.call.bind(world);
const inSeconds = world.inSeconds.bind(world);

describe('GET /v1/balance', () => {
  test.each([{}, { query: { include: ['account'] } }])('takes one round trip: %j', async (given) => {
    await call(getBalance, given);

    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1 });
  });

  test('says whose it is only where that is asked for', async () => {
    const { body } = await call(getBalance, { query: { include: ['account'] } });

    expect(body).toMatchObject({ account: { accountId: ACCOUNT_ID, name: 'demo' } });
    expect((await call(getBalance)).body).not.toHaveProperty('account');
  });
});

describe('GET /v1/usage', () => {
  const november = { from: ['2026-11-01'], to: ['2026-12-01'] };
  const usage = (query: Record<string, string[]>) => {
    const of = { model: 'xQI3Pro', createdAt: '2026-11-02T10:00:00.000Z' };
    const debit = { type: 'debit', reason: 'generation', amountThousandths: 12_345 } as const;
    memory.put(ledgerEntryKey(ACCOUNT_ID, 1), aLedgerEntry(1, { ...of, ...debit, keyId: 'key_1' }));
    memory.put(
      ledgerEntryKey(ACCOUNT_ID, 2),
      aLedgerEntry(2, { ...of, reason: 'refund', amountThousandths: 345, debitNumber: 1 }),
    );
    return call(getUsage, { query }, { account: { ledgerEntries: 2 } });
  };
  const sums = { requests: 1, debited: 12.345, refunded: 0.345, xTokens: 12 };

  test('returns the groups asked for, with the fields of these alone, and their total', async () => {
    expect((await usage({ ...november, by: ['day,model,key'] })).body).toStrictEqual({
      ...{ from: '2026-11-01', to: '2026-12-01', by: ['day', 'model', 'key'] },
      items: [{ day: '2026-11-02', model: 'xQI3Pro', keyId: 'key_1', ...sums }],
      total: sums,
    });
  });

  test('of a large ledger is read once at a time, and counts no place for a small one', async () => {
    const whose = inFlightKey('usage', `ACCOUNT#${ACCOUNT_ID}`);
    await usage(november);
    expect(memory.get(whose)).toBeUndefined();

    const ledgerEntries = 5_001;
    for (let number = 1; number <= ledgerEntries; number++) {
      memory.put(
        ledgerEntryKey(ACCOUNT_ID, number),
        aLedgerEntry(number, { createdAt: '2026-10-02T10:00:00.000Z' }),
      );
    }
    const read = (entries = ledgerEntries) =>
      call(getUsage, { query: november }, { account: { ledgerEntries: entries } });
    expect((await read()).status).toBe(200);
    memory.patch(whose, { slot0: { holder: 'another', heldUntil: Date.parse(inSeconds(10)) } });
    expect((await read(5_000)).status).toBe(200);
    expect(await read()).toMatchObject({
      status: 429,
      headers: { 'Retry-After': '5' },
      body: { error: { code: 'rate_limited' } },
    });
  });

  test('returns only a total when nothing is asked for', async () => {
    expect((await usage(november)).body).toMatchObject({ by: [], items: [], total: sums });
  });

  test.each([
    [{ from: ['2026-11-01'] }, { to: 'is required: a date like 2026-11-01' }],
    [{ ...november, from: ['2026-02-30'] }, { from: 'must be a date like 2026-11-01' }],
    [{ ...november, from: ['2026-11-01T00:00:00Z'] }, { from: 'must be a date like 2026-11-01' }],
    [{ ...november, to: ['2026-11-01'] }, { to: 'must be after from' }],
    [{ ...november, to: ['2027-02-03'] }, { to: 'must be at most 93 days after from' }],
    [{ ...november, by: ['day,day'] }, { by: 'must be some of day,model,endUser,key, each once' }],
    [{ ...november, by: [''] }, { by: 'must be some of day,model,endUser,key, each once' }],
    [{ ...november, by: ['account'] }, { by: 'must be some of day,model,endUser,key, each once' }],
  ])('refuses %j', async (query, fields) => {
    const { status, body } = await usage(query);

    expect([status, body.error.fields]).toEqual([400, fields]);
  });

  test('takes 93 days', async () => {
    expect((await usage({ ...november, to: ['2027-02-02'] })).status).toBe(200);
  });
});

describe('GET /v1/models', () => {
  const ids = async () => (await call(listModels)).body.data.map(({ id }: { id: string }) => id);

  test('leaves out models that cannot be dispatched now', async () => {
    secrets.set('arn:modelark-key', undefined);
    putModelSettings(memory, { model: 'xZI1.0Pro', enabled: false });

    expect(await ids()).toEqual(['xQI3Pro', 'xW2.7S', 'xW3.0s']);
  });

  test('shows the models as the catalog has them, without rates unless these are published', async () => {
    const published = async (more: Record<string, string> = {}) =>
      withEnvironment(more, () => call(listModels));
    const catalog = CATALOG.filter(({ id }) => id !== 'xW3.0sPro');

    // `toEqual` fails on any extra key, such as a rate.
    expect((await published()).body).toEqual(JSON.parse(JSON.stringify({ data: catalog })));
    expect((await published({ PUBLISH_RATES: 'true' })).body.data).toEqual(
      catalog.map((model) => ({ ...model, rate: DEFAULT_RATES[model.id] })),
    );
  });

  test('shows an account its own rates, and no model whose price cannot be read', async () => {
    const rates = { 'xW2.7S': { factorThousandths: 500 }, xSD5Pro: { perToken: 1 } };

    const { body } = await withEnvironment({ PUBLISH_RATES: 'true' }, () =>
      call(listModels, {}, { account: { rates } }),
    );

    const shown = new Map(body.data.map(({ id, rate }: { id: string; rate: unknown }) => [id, rate]));
    expect(shown.get('xW2.7S')).toEqual({ perSecond: { '720p': 2.5, '1080p': 4 } });
    expect(shown.get('xSD4.5')).toEqual(DEFAULT_RATES['xSD4.5']);
    expect(shown.has('xSD5Pro')).toBe(false);
  });
});

describe('GET /v1/generations/{requestId}', () => {
  const get = (requestId = REQUEST_ID) => call(getGeneration, { pathParameters: { requestId } });
  const given = (request: Partial<ImageRequest>) =>
    memory.put(requestKey(REQUEST_ID), anImageRequest(request));
  const succeeded = (expiresInSeconds: number): Partial<ImageRequest> => ({
    status: 'succeeded',
    outputs: [aStoredOutput(0), { index: 1 }],
    finishedAt: inSeconds(-60),
    expiresAt: inSeconds(expiresInSeconds),
    costThousandths: 4_000,
    ttl: Date.parse(inSeconds(expiresInSeconds + 86_400)) / 1000,
  });

  test.each<[Partial<ImageRequest>, string | undefined]>([
    [{}, '5'],
    [{ status: 'processing' }, '5'],
    [succeeded(100), undefined],
    [succeeded(0), undefined],
  ])('gives the polling interval as long as the request is unfinished: %j, %p', async (request, seconds) => {
    given(request);

    expect((await get()).headers['Retry-After']).toBe(seconds);
  });

  test.each([
    [1, 200, 'succeeded'],
    [0, 200, 'expired'],
    [-86_399, 200, 'expired'],
    [-86_400, 404, undefined],
  ])('answers %p s before its expiry with %p %p', async (seconds, status, expected) => {
    given(succeeded(seconds));
    const answer = await get();

    expect([answer.status, answer.body.status]).toEqual([status, expected]);
  });

  test('takes one round trip to the table and never writes to the request', async () => {
    given({});
    await get();

    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 2 });
    expect(memory.get(requestKey(REQUEST_ID))).toEqual({ ...requestKey(REQUEST_ID), ...anImageRequest() });
  });
});

test("GET /v1/generations/{requestId} of another account's image is 404", async () => {
  memory.put(requestKey(REQUEST_ID), anImageRequest({ accountId: 'acc_01JD4KXQ8M0000000000000009' }));

  expect((await call(getGeneration, { pathParameters: { requestId: REQUEST_ID } })).status).toBe(404);
});

test("GET /v1/videos/{requestId} of another account's video queries no provider", async () => {
  const theirs = aVideoRequest({ accountId: 'acc_01JD4KXQ8M0000000000000009', status: 'processing' });
  memory.put(requestKey(VIDEO_ID), theirs);

  expect((await call(getVideo, { pathParameters: { requestId: VIDEO_ID } })).status).toBe(404);
  // A query is claimed by a write.
  expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 3 });
});
