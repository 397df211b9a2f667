import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { deleteRequests } from '../../../../core/deletion/delete-requests.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { aSucceeded, error, given, left, memory } from './a-deletion.ts';

describe('deleting many requests', () => {
  const idOf = (index: number): string => `img_01JD4KXQ8M${String(index).padStart(16, '0')}`;
  const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => idOf(index));

  test('takes no more once keepGoing returns false, and finishes what it took', async () => {
    for (const requestId of ids(40)) given(aSucceeded({ requestId, outputs: [] }));
    let calls = 0;

    const { deletions, complete } = await deleteRequests(ACCOUNT_ID, ids(40), NOW, {
      keepGoing: () => ++calls <= 20,
    });

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

    const { deletions } = await deleteRequests(ACCOUNT_ID, [REQUEST_ID], NOW, {
      keepGoing: () => attempts < 2,
    });

    expect(deletions.get(REQUEST_ID)).toEqual({ outcome: 'failed' });
    expect(attempts).toBe(2);
  });

  test('counts one that committed although neither its answer nor the check-up came', async () => {
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
