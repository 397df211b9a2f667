import '../../builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { BatchWriteCommand, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deleteRequest, deleteRequests } from '../../../../core/deletion/delete-requests.ts';
import { logger } from '../../../../core/observability.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import {
  deletedRequestKey,
  dueListing,
  outputObjectKey,
  providerAttemptKey,
  providerWaitKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAttempt,
  anImageRequest,
  aStoredOutput,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const bucket = new MemoryBucket();
const warn = jest.spyOn(logger, 'warn');
const error = jest.spyOn(logger, 'error');
jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  memory.reset();
  bucket.reset();
  warn.mockReset();
  error.mockReset();
});

/** A succeeded request with two files and one output that was not stored. */
const aSucceeded = (overrides: Partial<ImageRequest> = {}): ImageRequest =>
  anImageRequest({
    status: 'succeeded',
    outputs: [aStoredOutput(0), { index: 1 }, aStoredOutput(2)],
    expiresAt: atSeconds(10).toISOString(),
    ttl: NOW.getTime() / 1000 + 100,
    ...overrides,
  });
/** Puts a request with its files, three provider calls and its wait. */
const given = (request: ImageRequest = aSucceeded()): void => {
  putRequest(memory, request);
  for (const { objectKey } of request.outputs ?? []) if (objectKey) bucket.put(objectKey);
  for (const call of [0, 1, 2]) {
    memory.put(
      providerAttemptKey(request.requestId, call, 0),
      anAttempt({ call, requestId: request.requestId }),
    );
  }
  memory.put(providerWaitKey(request.requestId), { requestId: request.requestId });
};
const remove = (now = NOW, accountId = ACCOUNT_ID) => deleteRequest(accountId, REQUEST_ID, now);
const everything = () => memory.partition(`REQUEST#${REQUEST_ID}`);
const NOTHING_DONE = { attempts: 3, files: 2 };
const left = () => ({
  attempts: everything().filter(({ SK }) => String(SK).startsWith('ATTEMPT#')).length,
  files: bucket.objects.size,
});

describe('deleting a request', () => {
  test('removes its files, its record and everything stored with it, and counts the files', async () => {
    given();
    bucket.put('outputs/another');

    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 2 });
    expect(everything()).toEqual([]);
    expect([...bucket.objects.keys()]).toEqual(['outputs/another']);
    expect(bucket.client.commandCalls(DeleteObjectsCommand).map(({ args }) => args[0].input)).toEqual([
      {
        Bucket: 'bucket',
        Delete: { Objects: [0, 2].map((index) => ({ Key: aStoredOutput(index).objectKey })), Quiet: true },
      },
    ]);
  });

  test('removes the record before the files, so that no read returns the URL of a removed file', async () => {
    given();
    let recordAtRemoval: unknown = 'not looked at';
    bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
      recordAtRemoval = memory.get(requestKey(REQUEST_ID));
      return {};
    });

    await remove();

    expect(recordAtRemoval).toBeUndefined();
  });

  test('whose record cannot be removed keeps its files, and can be deleted later', async () => {
    given();
    memory.client.on(TransactWriteCommand).rejectsOnce(new Error('no table')).resolves({});

    await expect(remove()).rejects.toThrow('no table');
    expect(left()).toEqual(NOTHING_DONE);
    expect(memory.get(requestKey(REQUEST_ID))).toBeDefined();
    expect(await remove()).toMatchObject({ outcome: 'deleted' });
  });

  const mark = () => memory.get(deletedRequestKey(ACCOUNT_ID, REQUEST_ID));
  const open = dueListing('LOOK', REQUEST_ID, atSeconds(65).toISOString());

  test('leaves a mark for the ledger entries that name it, and nothing due', async () => {
    given();
    await remove(atSeconds(5));

    expect(mark()).toEqual({
      ...deletedRequestKey(ACCOUNT_ID, REQUEST_ID),
      accountId: ACCOUNT_ID,
      requestId: REQUEST_ID,
      deletedAt: atSeconds(5).toISOString(),
    });
  });

  test('whose files cannot be removed keeps their names and stays due', async () => {
    given();
    bucket.client.on(DeleteObjectsCommand).rejects(new Error('no bucket'));

    expect(await remove(atSeconds(5))).toEqual({ outcome: 'deleted', removedObjects: 0 });

    expect(mark()).toMatchObject({
      ...open,
      files: [aStoredOutput(0).objectKey, aStoredOutput(2).objectKey],
    });
    expect(left()).toEqual({ attempts: 0, files: 2 });
  });

  test('whose record is removed is done for its caller, and what fails after that stays open work', async () => {
    given();
    memory.client.on(BatchWriteCommand).rejects(new Error('no table'));

    expect(await remove(atSeconds(5))).toEqual({ outcome: 'deleted', removedObjects: 2 });

    expect(warn.mock.calls).toEqual([
      ['a deletion is left to the reconciler', { requestId: REQUEST_ID, error: new Error('no table') }],
    ]);
    expect(memory.get(requestKey(REQUEST_ID))).toBeUndefined();
    expect(mark()).toMatchObject(open);
    expect(await remove()).toEqual({ outcome: 'not_found' });
  });

  test('removes files that were not recorded, and counts them', async () => {
    given();
    bucket.put(outputObjectKey(REQUEST_ID, 7, 'png'));

    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 3 });
    expect(bucket.objects.size).toBe(0);
  });

  test('that failed has no files to remove', async () => {
    given(anImageRequest({ status: 'failed', ttl: NOW.getTime() / 1000 + 100 }));

    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 0 });
    expect(everything()).toEqual([]);
    expect(bucket.client.commandCalls(DeleteObjectsCommand)).toHaveLength(0);
  });

  test.each([
    [9.999, 2],
    [10, 0],
    [99.999, 0],
  ])(
    'after %p s counts %p files: those of an expired request do not count',
    async (seconds, removedObjects) => {
      given();

      expect(await remove(atSeconds(seconds))).toEqual({ outcome: 'deleted', removedObjects });
      expect(everything()).toEqual([]);
      expect(bucket.objects.size).toBe(0);
    },
  );

  test.each(['queued', 'processing'] as const)(
    'that is %s is a conflict and changes nothing',
    async (status) => {
      given(aSucceeded({ status }));

      expect(await remove()).toEqual({ outcome: 'conflict' });
      expect(left()).toEqual(NOTHING_DONE);
      expect(memory.get(requestKey(REQUEST_ID))).toBeDefined();
    },
  );

  test.each<[string, () => ReturnType<typeof remove>]>([
    ["is another account's", () => remove(NOW, 'acc_01JD4KXQ8M0000000000000009')],
    ['is gone', () => deleteRequest(ACCOUNT_ID, 'img_01JD4KXQ8M0000000000000007', NOW)],
  ])('that %s is not found and changes nothing', async (_, act) => {
    given();

    expect(await act()).toEqual({ outcome: 'not_found' });
    expect(left()).toEqual(NOTHING_DONE);
  });

  test('of another account does not reveal its state', async () => {
    given(aSucceeded({ status: 'queued' }));

    expect(await remove(NOW, 'acc_01JD4KXQ8M0000000000000009')).toEqual({ outcome: 'not_found' });
  });

  test('many times at once counts once', async () => {
    given();

    const outcomes = (await Promise.all(Array.from({ length: 8 }, () => remove()))).map(
      ({ outcome }) => outcome,
    );

    expect(outcomes.sort()).toEqual(['deleted', ...Array(7).fill('not_found')]);
    expect(await remove()).toEqual({ outcome: 'not_found' });
  });

  test('past its retention is not found, and what is left of it is removed', async () => {
    given();

    expect(await remove(atSeconds(100))).toEqual({ outcome: 'not_found' });
    expect(left()).toEqual({ attempts: 0, files: 0 });
    expect(everything()).toEqual([]);
  });

  test('continues when files cannot be removed, counts the removed ones and logs the others', async () => {
    given();
    const failed = aStoredOutput(0).objectKey;
    bucket.client
      .on(DeleteObjectsCommand)
      .resolvesOnce({ Errors: [{ Key: failed, Code: 'AccessDenied' }] })
      .rejects(new Error('no bucket'));

    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 1 });
    expect(warn.mock.calls).toEqual([
      ['a file could not be removed', { objectKey: failed, code: 'AccessDenied' }],
    ]);

    given();
    warn.mockReset();
    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 0 });
    expect(everything()).toEqual([]);
    expect(warn.mock.calls).toEqual([
      ['files could not be removed', { first: failed, count: 2, error: new Error('no bucket') }],
    ]);
  });
});

describe('deleting many requests', () => {
  const idOf = (index: number): string => `img_01JD4KXQ8M${String(index).padStart(16, '0')}`;
  const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => idOf(index));

  test('returns the outcome of each, in order', async () => {
    given(aSucceeded({ requestId: idOf(2) }));
    given(aSucceeded({ requestId: idOf(0), status: 'queued' }));

    const { deletions, complete } = await deleteRequests(ACCOUNT_ID, [idOf(2), idOf(1), idOf(0)], NOW);

    expect([...deletions]).toEqual([
      [idOf(2), { outcome: 'deleted', removedObjects: 2 }],
      [idOf(1), { outcome: 'not_found' }],
      [idOf(0), { outcome: 'conflict' }],
    ]);
    expect(complete).toBe(true);
  });

  test('without ids does nothing', async () => {
    expect(await deleteRequests(ACCOUNT_ID, [], NOW)).toEqual({ deletions: new Map(), complete: true });
    expect(memory.calls()).toEqual({});
  });

  test('works on at most sixteen at once', async () => {
    let [underWay, most] = [0, 0];
    bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return {};
    });
    for (const requestId of ids(50)) given(aSucceeded({ requestId }));

    const { deletions } = await deleteRequests(ACCOUNT_ID, ids(50), NOW);

    expect(deletions.size).toBe(50);
    expect(most).toBe(16);
  });

  test('takes no more once keepGoing returns false, and finishes what it took', async () => {
    for (const requestId of ids(40)) given(aSucceeded({ requestId, outputs: [] }));
    let calls = 0;

    const { deletions, complete } = await deleteRequests(ACCOUNT_ID, ids(40), NOW, () => ++calls <= 20);

    expect(complete).toBe(false);
    expect([...deletions.keys()]).toEqual(ids(20));
    expect([...deletions.values()].every(({ outcome }) => outcome === 'deleted')).toBe(true);
    expect(ids(40).filter((id) => memory.get(requestKey(id)))).toEqual(ids(40).slice(20));
  });

  const failOn = (requestId: string, fail: (attempt: number) => void) => {
    let attempts = 0;
    memory.beforeTransaction = () => {
      const [item] = memory.transactions.at(-1)?.TransactItems ?? [];
      if (item?.Delete?.Key?.PK === requestKey(requestId).PK) fail(++attempts);
    };
  };

  test('gives up one that fails ten times, reports it as failed and does the others', async () => {
    for (const requestId of ids(3)) given(aSucceeded({ requestId }));
    let attempts = 0;
    failOn(idOf(1), (attempt) => {
      attempts = attempt;
      throw tableError('TimeoutError');
    });

    const { deletions, complete } = await deleteRequests(ACCOUNT_ID, ids(3), NOW);

    expect([...deletions.values()].map(({ outcome }) => outcome)).toEqual(['deleted', 'failed', 'deleted']);
    expect(complete).toBe(false);
    expect(attempts).toBe(10);
    expect(error.mock.calls).toEqual([
      ['a request could not be deleted', { requestId: idOf(1), error: tableError('TimeoutError') }],
    ]);
  });

  test('does not repeat one that failed once keepGoing returns false', async () => {
    given();
    let attempts = 0;
    failOn(REQUEST_ID, (attempt) => {
      attempts = attempt;
      throw tableError('TimeoutError');
    });

    const { deletions } = await deleteRequests(ACCOUNT_ID, [REQUEST_ID], NOW, () => attempts < 2);

    expect(deletions.get(REQUEST_ID)).toEqual({ outcome: 'failed' });
    expect(attempts).toBe(2);
  });

  test('counts one that committed although neither its answer nor the look-up came', async () => {
    given();
    memory.afterTransaction = () => {
      memory.client.on(GetCommand).rejectsOnce(tableError('TimeoutError')).callsFake(readAgain);
      throw tableError('TimeoutError');
    };
    const readAgain = ({ Key }: { Key: { PK: string; SK: string } }) => ({ Item: memory.get(Key) });

    const { deletions } = await deleteRequests(ACCOUNT_ID, [REQUEST_ID], NOW);

    expect(deletions.get(REQUEST_ID)).toEqual({ outcome: 'deleted', removedObjects: 2 });
    expect(left()).toEqual({ attempts: 0, files: 0 });
  });
});
