import { beforeEach, describe, expect, test } from '@jest/globals';
import { dueListing, requestKey } from '../../../core/table/keys.ts';
import { handler as expireRequests } from '../../../functions/workflow/expire-requests.ts';
import { handler as listExpiredRequests } from '../../../functions/workflow/list-expired-requests.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { anImageRequest, aStoredOutput, putRequest, REQUEST_ID } from '../builders/entities.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { memory } from '../fakes/fresh-table.ts';
import { request } from './a-workflow-task.ts';

describe('the tasks of the expiry', () => {
  beforeEach(() => {
    const ended = { status: 'succeeded' as const, expiresAt: new Date(0).toISOString() };
    putRequest(memory, anImageRequest({ ...ended, outputs: [aStoredOutput(0)] }));
    memory.patch(requestKey(REQUEST_ID), dueListing('EXPIRE', REQUEST_ID, ended.expiresAt));
    bucket.put(String(aStoredOutput(0).objectKey));
  });

  test('list what has expired, and remove the files of a batch', async () => {
    const page = await listExpiredRequests(
      { cursor: { pages: 0 }, knownSteps: ['list', 'stop'] },
      aLambdaContext(),
    );
    expect(page).toEqual({
      batches: [{ requestIds: [REQUEST_ID] }],
      cursor: { pages: 1, position: [] },
      next: 'stop',
    });

    await expireRequests(page?.batches[0], aLambdaContext());

    expect(bucket.objects.size).toBe(0);
    expect(request()).toHaveProperty('expiredAt');
  });

  test.each([{}, { cursor: {} }, { cursor: { pages: 1, position: [{ shard: 0 }] } }])(
    'refuse a cursor that is not one: %j',
    async (event) => {
      await expect(listExpiredRequests(event, aLambdaContext())).rejects.toThrow();
      expect(memory.calls()).toEqual({});
    },
  );

  test.each([{}, { requestIds: REQUEST_ID }, { requestIds: [7] }])(
    'refuse a batch that is not one: %j',
    async (event) => {
      await expect(expireRequests(event, aLambdaContext())).rejects.toThrow();
      expect(memory.calls()).toEqual({});
    },
  );

  test('throw TransientError when nothing can be listed for now', async () => {
    memory.client.rejects(Object.assign(new Error('slow down'), { name: 'ThrottlingException' }));

    await expect(
      listExpiredRequests({ cursor: { pages: 0 }, knownSteps: ['list', 'stop'] }, aLambdaContext()),
    ).rejects.toMatchObject({
      name: 'TransientError',
    });
  });
});
