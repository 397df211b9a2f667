import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import { closeRequest } from '../../../../core/ending/close-request.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { dueListing, dueListOf, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anImageRequest, aVideoRequest, putRequest } from '../../builders/entities.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

const expiresAt = atSeconds(82_800).toISOString();
/** Puts a request that is in a due list; returns its id. */
const given = (request: StoredRequest): string => {
  putRequest(memory, request);
  memory.patch(requestKey(request.requestId), dueListing('LOOK', request.requestId, request.createdAt));
  return request.requestId;
};
const placeOf = (requestId: string) => {
  const { GSI1PK, GSI1SK } = memory.get(requestKey(requestId)) ?? {};
  return GSI1PK === undefined ? undefined : { GSI1PK, GSI1SK };
};
/** Whether something is left to do or to start. */
const isOpen = (requestId: string): boolean => dueListOf(String(placeOf(requestId)?.GSI1PK)) === 'LOOK';

describe('closing a request', () => {
  test.each([
    anImageRequest({ status: 'succeeded', expiresAt }),
    aVideoRequest({ status: 'succeeded', expiresAt }),
  ])('that succeeded lists it for when its files expire, and starts nothing: $kind', async (request) => {
    const requestId = given(request);

    await closeRequest(requestId);

    expect(executions.started).toEqual([]);
    expect(placeOf(requestId)).toEqual(dueListing('EXPIRE', requestId, expiresAt));
  });

  test.each([
    anImageRequest({ status: 'failed', webhookUrl: 'https://hooks.example.com/' }),
    aVideoRequest({ status: 'succeeded', expiresAt, webhookUrl: 'https://hooks.example.com/' }),
  ])(
    'that has a webhook starts its delivery, named by the request and given its id alone: $status',
    async (request) => {
      const requestId = given(request);

      await closeRequest(requestId);
      await closeRequest(requestId);

      expect(executions.started).toContainEqual({
        machine: 'webhook-delivery',
        name: requestId,
        input: { requestId },
        status: 'RUNNING',
      });
      expect(executions.started).toHaveLength(1);
      expect(isOpen(requestId)).toBe(false);
    },
  );

  test('that failed starts nothing and takes it off the due list', async () => {
    const requestId = given(anImageRequest({ status: 'failed' }));

    await closeRequest(requestId);

    expect(executions.started).toEqual([]);
    expect(placeOf(requestId)).toBeUndefined();
  });

  test.each(['queued', 'processing'] as const)('that is %s does nothing', async (status) => {
    const requestId = given(anImageRequest({ status }));

    await closeRequest(requestId);

    expect(executions.client.calls()).toHaveLength(0);
    expect(isOpen(requestId)).toBe(true);
  });

  const webhookUrl = 'https://hooks.example.com/';

  test('many times starts its webhook once', async () => {
    const requestId = given(anImageRequest({ status: 'succeeded', expiresAt, webhookUrl }));

    await Promise.all([closeRequest(requestId), closeRequest(requestId), closeRequest(requestId)]);
    await closeRequest(requestId);

    expect(executions.names('webhook-delivery')).toEqual([requestId]);
    expect(placeOf(requestId)).toEqual(dueListing('EXPIRE', requestId, expiresAt));
  });

  test('whose expiry was put off leaves its place alone, and costs one read', async () => {
    const request = anImageRequest({ status: 'succeeded', expiresAt, webhookUrl });
    putRequest(memory, request);
    const place = dueListing('EXPIRE', request.requestId, atSeconds(90_000).toISOString());
    memory.patch(requestKey(request.requestId), place);

    await closeRequest(request.requestId);

    expect(placeOf(request.requestId)).toEqual(place);
    expect(memory.calls()).toEqual({ GetCommand: 1 });
    expect(executions.client.calls()).toHaveLength(0);
  });

  test('that is closed costs one read', async () => {
    putRequest(memory, anImageRequest({ status: 'succeeded', expiresAt }));

    await closeRequest(anImageRequest().requestId);

    expect(memory.calls()).toEqual({ GetCommand: 1 });
    expect(executions.client.calls()).toHaveLength(0);
  });

  test('that was deleted does nothing', async () => {
    await closeRequest(anImageRequest({ createdAt: NOW.toISOString() }).requestId);

    expect(memory.calls()).toEqual({ GetCommand: 1 });
  });

  test('that cannot be closed stays due, and the next run closes it', async () => {
    const requestId = given(anImageRequest({ status: 'succeeded', expiresAt, webhookUrl }));
    executions.refuseStarts(new Error('throttled'));

    await expect(closeRequest(requestId)).rejects.toThrow('throttled');
    expect(isOpen(requestId)).toBe(true);

    executions.reset();
    await closeRequest(requestId);
    expect(executions.names('webhook-delivery')).toEqual([requestId]);
    expect(isOpen(requestId)).toBe(false);
  });
});
