import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { bulkDelete } from '../../../../core/deletion/delete-requests.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aStoredOutput, putRequest } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { memory } from '../../fakes/fresh-table.ts';

beforeEach(() => {
  jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const idOf = (index: number): string => `img_01JD4KXQ8M${String(index).padStart(16, '0')}`;
const given = (index: number): string => {
  const requestId = idOf(index);
  const outputs = [aStoredOutput(0, { objectKey: `outputs/${requestId}` })];
  const expiresAt = atSeconds(1000).toISOString();
  putRequest(memory, anImageRequest({ requestId, status: 'succeeded', outputs, expiresAt }));
  return requestId;
};
/** The outcomes, and the seconds after which they came. */
const outcomesOf = async (ids: string[], startedAt = NOW) => {
  let seconds: number | undefined;
  const call = bulkDelete(ACCOUNT_ID, ids, startedAt).then((outcomes) => {
    seconds = (Date.now() - NOW.getTime()) / 1000;
    return [...outcomes];
  });
  for (let turn = 0; turn < 600 && seconds === undefined; turn++) await jest.advanceTimersByTimeAsync(50);
  return { outcomes: await call, seconds };
};
const DELETED = { outcome: 'deleted', removedObjects: 1 };
const FAILED = { outcome: 'failed' };

describe('deleting in bulk', () => {
  test('answers in the order of the ids, at once, and leaves no timer', async () => {
    const ids = [given(2), 'x', idOf(3), given(1)];

    expect(await outcomesOf(ids)).toEqual({
      outcomes: [
        [idOf(2), DELETED],
        ['x', { outcome: 'not_found' }],
        [idOf(3), { outcome: 'not_found' }],
        [idOf(1), DELETED],
      ],
      seconds: expect.any(Number),
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  test('answers by 24 s after the call began when the table is silent about some', async () => {
    const ids = [given(1), given(2)];
    memory.client.on(TransactWriteCommand).callsFake(() => new Promise(() => undefined));

    expect(await outcomesOf(ids, atSeconds(-1))).toEqual({
      ...{ outcomes: ids.map((id) => [id, FAILED]), seconds: 23 },
    });
  });

  test('counts a record it removed although its files take too long', async () => {
    const ids = [given(1)];
    bucket.client.on(DeleteObjectsCommand).callsFake(() => new Promise(() => undefined));

    expect((await outcomesOf(ids)).outcomes).toEqual([[idOf(1), { outcome: 'deleted', removedObjects: 0 }]]);
  });

  test('begins nothing after 20 s', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => given(index));
    memory.client.on(TransactWriteCommand).callsFake(async () => {
      await new Promise((resolve) => setTimeout(resolve, 21_000));
      throw tableError('TimeoutError');
    });

    expect(await outcomesOf(ids)).toEqual({ outcomes: ids.map((id) => [id, FAILED]), seconds: 21 });
    expect(memory.client.commandCalls(TransactWriteCommand)).toHaveLength(16);
  });
});
