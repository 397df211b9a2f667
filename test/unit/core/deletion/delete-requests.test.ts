import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { BatchWriteCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { deleteRequest, deleteRequests } from '../../../../core/deletion/delete-requests.ts';
import { finishDeletion } from '../../../../core/deletion/finish-deletion.ts';
import { outputObjectKey } from '../../../../core/object-keys.ts';
import {
  deletedRequestKey,
  dueListing,
  providerAttemptKey,
  requestKey,
  webhookAttemptKey,
  webhookAttemptsEndKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aStoredOutput, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import {
  aSucceeded,
  bucket,
  everything,
  given,
  left,
  memory,
  NOTHING_DONE,
  remove,
  warn,
} from './a-deletion.ts';

describe('deleting a request', () => {
  test('removes its files, its record and everything stored with it, page by page, and counts the files', async () => {
    given(aSucceeded({ webhookUrl: 'https://hooks.example.com' }));
    for (let call = 3; call < 60; call++) memory.put(providerAttemptKey(REQUEST_ID, call, 0), {});
    memory.put({ PK: `REQUEST#${REQUEST_ID}`, SK: 'SOMETHING_NEW' }, {});
    const others = [providerAttemptKey(VIDEO_ID, 0, 0), webhookAttemptKey(VIDEO_ID, VIDEO_ID, 1)];
    for (const key of others) memory.put(key, {});
    bucket.put('outputs/another');
    memory.itemsPerQuery = 7;

    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 2 });
    expect(everything()).toEqual([]);
    expect(memory.get(webhookAttemptsEndKey(REQUEST_ID))).toBeDefined();
    for (const key of others) expect(memory.get(key)).toBeDefined();
    expect([...bucket.objects.keys()]).toEqual(['outputs/another']);
  });

  test('never removes a record that is there, whatever a mark says', async () => {
    given();
    await finishDeletion({ accountId: ACCOUNT_ID, requestId: REQUEST_ID });

    expect(everything()).toEqual([expect.objectContaining(requestKey(REQUEST_ID))]);
  });

  test('removes the record before the files, so that no read returns the URL of a removed file', async () => {
    given();
    let recordAtRemoval: unknown = 'not read';
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
  const open = dueListing('CHECK', REQUEST_ID, atSeconds(65).toISOString());

  test('leaves a mark with its amounts for the ledger entries that name it, and nothing due', async () => {
    given();
    await remove(atSeconds(5));

    expect(mark()).toEqual({
      ...deletedRequestKey(ACCOUNT_ID, REQUEST_ID),
      accountId: ACCOUNT_ID,
      accounted: {
        accountId: ACCOUNT_ID,
        status: 'succeeded',
        createdAt: NOW.toISOString(),
        debitThousandths: 4_000,
      },
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

  test('stays open work while what is left of it cannot be listed', async () => {
    given();
    const error = new Error('no table');
    memory.client.on(QueryCommand).rejects(error);

    expect(await remove(atSeconds(5))).toEqual({ outcome: 'deleted', removedObjects: 2 });

    expect(mark()).toMatchObject(open);
  });

  test('counts its files before what is left of it is removed, which may outlast the call', async () => {
    given();
    const deletions = new Map();
    let counted: unknown;
    memory.client.on(BatchWriteCommand).callsFake(() => {
      counted ??= deletions.get(REQUEST_ID);
      throw new Error('no table');
    });

    await deleteRequests(ACCOUNT_ID, [REQUEST_ID], NOW, { deletions });

    expect(counted).toEqual({ outcome: 'deleted', removedObjects: 2 });
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
    ["is another account's, in any state", () => remove(NOW, 'acc_01JD4KXQ8M0000000000000009')],
    ['is gone', () => deleteRequest(ACCOUNT_ID, 'img_01JD4KXQ8M0000000000000007', NOW)],
  ])('that %s is not found and changes nothing', async (_, act) => {
    for (const status of ['succeeded', 'queued'] as const) {
      given(aSucceeded({ status }));

      expect(await act()).toEqual({ outcome: 'not_found' });
      expect(left()).toEqual(NOTHING_DONE);
    }
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

  test('counts the files that were removed when others cannot be', async () => {
    given();
    const Key = aStoredOutput(0).objectKey;
    bucket.client.on(DeleteObjectsCommand).resolves({ Errors: [{ Key, Code: 'AccessDenied' }] });

    expect(await remove()).toEqual({ outcome: 'deleted', removedObjects: 1 });
    expect(everything()).toEqual([]);
  });
});
