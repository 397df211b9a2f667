import { beforeEach, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../../../core/ids.ts';
import { removeRequest } from '../../../../core/requests/deleted-requests.ts';
import { costOf, type ImageRequest, maxOutputs } from '../../../../core/requests/request-rules.ts';
import { closeWork, markExpired, postponeExpiry } from '../../../../core/requests/requests.ts';
import {
  DUE_SHARDS,
  type DueList,
  deletedRequestKey,
  dueListing,
  duePartition,
  requestKey,
  webhookAttemptsEndKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anImageRequest,
  aStoredOutput,
  aVideoRequest,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

const given = (request: Partial<ImageRequest>) => putRequest(memory, anImageRequest(request));
const stored = () => memory.get(requestKey(REQUEST_ID));

describe('removing a request', () => {
  const outputs = [aStoredOutput(0), { index: 1 }, aStoredOutput(2)];
  const files = [aStoredOutput(0).objectKey, aStoredOutput(2).objectKey];
  const settlement = { debitThousandths: 12_000, costThousandths: 8_000, refundThousandths: 4_000 };
  const ended = { ...settlement, finishedAt: NOW.toISOString(), debitEntryNumber: 1, refundEntryNumber: 2 };
  const remove = () => removeRequest(anImageRequest({ status: 'succeeded', outputs, ...ended }), NOW);
  const MARK = {
    accountId: ACCOUNT_ID,
    requestId: REQUEST_ID,
    deletedAt: NOW.toISOString(),
    accounted: { accountId: ACCOUNT_ID, status: 'succeeded', createdAt: NOW.toISOString(), ...ended },
    deletionId: expect.stringMatching(/^del_[0-9A-Z]{26}$/),
    files,
  };
  const mark = () => memory.get(deletedRequestKey(ACCOUNT_ID, REQUEST_ID));

  test('with a webhook ends its attempts in the same transaction, for a day', async () => {
    given({ status: 'succeeded', webhookUrl: 'https://hooks.example.com' });

    await removeRequest(anImageRequest({ webhookUrl: 'https://hooks.example.com' }), NOW);

    expect(memory.transactions).toHaveLength(1);
    expect(memory.get(webhookAttemptsEndKey(REQUEST_ID))).toStrictEqual({
      ...{ PK: `WEBHOOK_ATTEMPTS#${REQUEST_ID}`, SK: 'DELETED', ttl: NOW.getTime() / 1000 + 86_400 },
    });
  });

  test.each(['succeeded', 'failed'] as const)(
    'that %s is one transaction, which leaves a mark, with its amounts and the files that are left',
    async (status) => {
      given({ status });

      expect(await remove()).toEqual(MARK);
      expect(stored()).toBeUndefined();
      expect(mark()).toEqual({
        ...{ PK: `DELETED#${ACCOUNT_ID}`, SK: `DELETED#${REQUEST_ID}` },
        ...dueListing('CHECK', REQUEST_ID, atSeconds(60).toISOString()),
        ...MARK,
      });
      expect(memory.transactions).toHaveLength(1);
    },
  );

  test.each(['queued', 'processing', undefined] as const)('that is %s leaves no mark', async (status) => {
    if (status) given({ status });
    const before = structuredClone(stored());

    expect(await remove()).toBeUndefined();
    expect(stored()).toEqual(before);
    expect(mark()).toBeUndefined();
  });

  test('by everyone at once is done by one', async () => {
    given({ status: 'failed' });

    const removals = await Promise.all(Array.from({ length: 5 }, remove));

    expect(removals.filter(Boolean)).toHaveLength(1);
    expect(await remove()).toBeUndefined();
    expect(mark()).toMatchObject(MARK);
  });

  // The first is tried again.
  test.each(['TransactionInProgressException', 'TimeoutError'])(
    'whose answer was lost, with %s, is known by its own mark',
    async (name) => {
      given({ status: 'failed' });
      memory.afterTransaction = (attempt) => {
        if (attempt === 1) throw tableError(name);
      };

      expect(await remove()).toEqual(MARK);
      expect(await remove()).toBeUndefined();
    },
  );
});

describe('a request that delivered something', () => {
  test.each([
    ['images', anImageRequest({ images: 3 }), 3],
    ['a sequence', anImageRequest({ images: 15, sequential: true }), 15],
    ['a video', aVideoRequest(), 1],
  ] as const)('delivers at most what was debited: %s', (_, request, most) => {
    expect(maxOutputs(request)).toBe(most);
  });

  test.each([
    ['no image', anImageRequest({ images: 3 }), 0, 0],
    ['two of three images', anImageRequest({ images: 3 }), 2, 8_000],
    ['no video', aVideoRequest(), 0, 0],
    ['a video', aVideoRequest({ durationSec: 5 }), 1, 50_000],
    ['a video with 7 billed seconds', aVideoRequest({ durationSec: 5, billedSeconds: 7 }), 1, 70_000],
  ] as const)('costs its price: %s', (_, request, delivered, cost) => {
    expect(costOf(request, delivered)).toBe(cost);
  });
});

describe('marking a request as expired', () => {
  const expire = (seconds = 100) => markExpired(REQUEST_ID, atSeconds(seconds));
  const expiresAt = atSeconds(100).toISOString();
  /** A succeeded request that expires 100 s after `NOW`. */
  const expiring = (list: DueList, more: Partial<ImageRequest> = {}) => {
    given({ status: 'succeeded', expiresAt, ...more });
    memory.patch(requestKey(REQUEST_ID), dueListing(list, REQUEST_ID, expiresAt));
  };

  test('records when its files were removed, once, and takes it off the list', async () => {
    expiring('EXPIRE', { removalFailures: 2 });

    expect(await expire()).toBe(true);
    expect(await expire(160)).toBe(false);

    expect(stored()).toMatchObject({ status: 'succeeded', expiredAt: expiresAt });
    for (const gone of ['GSI1PK', 'GSI1SK', 'removalFailures']) expect(stored()).not.toHaveProperty(gone);
  });

  test.each<[string, () => void, number]>([
    ['a millisecond before its time', () => expiring('EXPIRE'), 99.999],
    ['whose webhook is not started', () => expiring('CHECK'), 100],
    ['that is in no list', () => given({ status: 'succeeded', expiresAt }), 100],
    ['that has no such time', () => expiring('EXPIRE', { expiresAt: undefined }), 100],
  ])('leaves one alone %s', async (_, put, seconds) => {
    put();
    const before = structuredClone(stored());

    expect(await expire(seconds)).toBe(false);
    expect(stored()).toEqual(before);
  });

  test('can be put off, by one of several', async () => {
    expiring('EXPIRE');
    const request = { requestId: REQUEST_ID, GSI1SK: expiresAt };
    const later = atSeconds(160).toISOString();

    const done = await Promise.all([1, 2].map(() => postponeExpiry(request, later, 1)));

    expect(done.filter(Boolean)).toHaveLength(1);
    expect(stored()).toMatchObject({ ...dueListing('EXPIRE', REQUEST_ID, later), removalFailures: 1 });
  });

  test('cannot be put off once it is marked', async () => {
    const request = { requestId: REQUEST_ID, GSI1SK: expiresAt };
    expiring('EXPIRE');
    await expire();
    expect(await postponeExpiry(request, atSeconds(160).toISOString(), 1)).toBe(false);
    expect(stored()).not.toHaveProperty('GSI1PK');
  });
});

describe('the due lists', () => {
  const failed = anImageRequest({ status: 'failed' });
  const succeeded = anImageRequest({ status: 'succeeded', expiresAt: atSeconds(100).toISOString() });
  const listFor = (list: DueList) =>
    memory.patch(requestKey(REQUEST_ID), dueListing(list, REQUEST_ID, NOW.toISOString()));

  test('are left by a failed request that is closed, which changes nothing else', async () => {
    given({ status: 'failed' });
    const { GSI1PK: _, GSI1SK: __, ...rest } = stored() ?? {};
    listFor('CHECK');

    expect(await closeWork(failed)).toBe(true);
    expect(stored()).toEqual(rest);
    expect(await closeWork(failed)).toBe(false);
  });

  test('have a succeeded request that is closed at its expiry, which changes nothing else', async () => {
    putRequest(memory, succeeded);
    listFor('CHECK');
    const before = structuredClone(stored());

    expect(await closeWork(succeeded)).toBe(true);
    expect(stored()).toEqual({
      ...before,
      ...dueListing('EXPIRE', REQUEST_ID, atSeconds(100).toISOString()),
    });
    expect(await closeWork(succeeded)).toBe(false);
  });

  test('keep the due key of a request whose expiry was put off', async () => {
    putRequest(memory, succeeded);
    listFor('EXPIRE');

    expect(await closeWork(succeeded)).toBe(false);
    expect(stored()).toMatchObject({ GSI1SK: NOW.toISOString() });
  });

  test.each(['START', 'CHECK', 'EXPIRE'] as const)('are spread over all of their partitions: %s', (list) => {
    const partitions = Array.from(
      { length: 2000 },
      () => dueListing(list, newRequestId('image', NOW), NOW.toISOString()).GSI1PK,
    );

    expect(new Set(partitions)).toEqual(
      new Set(Array.from({ length: DUE_SHARDS }, (_, shard) => duePartition(list, shard))),
    );
  });
});
