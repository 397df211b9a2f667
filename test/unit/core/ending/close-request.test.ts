import { describe, expect, test } from '@jest/globals';
import { closeRequest as closeSettled } from '../../../../core/ending/close-request.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { dueListing, permitAttribute, requestKey, routeLimitKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { anImageRequest, aVideoRequest, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { firstAttempts } from '../../fakes/fresh-first-attempts.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { MODEL, withLimits } from '../admission/a-route.ts';
import { dueKeyOf, webhookUrl } from './an-ending.ts';

const expiresAt = atSeconds(82_800).toISOString();
const succeeded = { status: 'succeeded', expiresAt } as const;
/** Puts a request that has work left, or has another due key; returns its id. */
const given = (
  request: StoredRequest,
  dueKey: object = dueListing('CHECK', request.requestId, request.createdAt),
): string => {
  putRequest(memory, request);
  memory.patch(requestKey(request.requestId), dueKey);
  return request.requestId;
};
/** Closes a request without files. */
const closeRequest = (requestId: string) => closeSettled(requestId, async () => true);

describe('closing a request', () => {
  test.each<[string, StoredRequest]>([
    ['an image that succeeded', anImageRequest(succeeded)],
    ['a video that succeeded', aVideoRequest(succeeded)],
    ['an image that succeeded, with a webhook', anImageRequest({ ...succeeded, webhookUrl })],
    ['a video that succeeded, with a webhook', aVideoRequest({ ...succeeded, webhookUrl })],
    ['one that failed', anImageRequest({ status: 'failed' })],
    ['one that failed, with a webhook', anImageRequest({ status: 'failed', webhookUrl })],
  ])('has its webhook attempted, and lists it for its expiry or not at all: %s', async (_, request) => {
    const requestId = given(request);

    await Promise.all([closeRequest(requestId), closeRequest(requestId), closeRequest(requestId)]);
    await closeRequest(requestId);

    // The attempt itself is made once.
    expect(new Set(firstAttempts())).toEqual(new Set(request.webhookUrl ? [requestId] : []));
    expect(executions.client.calls()).toHaveLength(0);
    expect(dueKeyOf(requestId)).toEqual(
      request.status === 'succeeded' ? dueListing('EXPIRE', requestId, expiresAt) : undefined,
    );
  });

  const { requestId: id } = anImageRequest();
  test.each<[string, StoredRequest | undefined, object | undefined]>([
    ['is queued', anImageRequest({ status: 'queued', webhookUrl }), undefined],
    ['is processing', anImageRequest({ status: 'processing', webhookUrl }), undefined],
    [
      'was closed, and whose expiry was put off',
      anImageRequest(succeeded),
      dueListing('EXPIRE', id, atSeconds(90_000).toISOString()),
    ],
    ['was closed and is in no list', anImageRequest(succeeded), {}],
    ['was deleted', undefined, undefined],
  ])('does nothing, at the cost of one read, for one that %s', async (_, request, dueKey) => {
    if (request) given(request, dueKey);
    else memory.remove(requestKey(id));
    const before = structuredClone(dueKeyOf(id));

    await closeRequest(id);

    expect(dueKeyOf(id)).toEqual(before);
    expect(memory.calls()).toEqual({ GetCommand: 1 });
    expect(firstAttempts()).toEqual([]);
  });
});

describe('closing a request of a route with a limit', () => {
  const ROUTE = 'modelark/seedream';
  const atRoute = {
    ...succeeded,
    model: MODEL,
    webhookUrl,
    assignment: { route: ROUTE, number: 1 },
  } as const;
  const close = (more: object): Promise<boolean> =>
    withLimits({ maxRunning: 2 }, () => closeRequest(given(anImageRequest({ ...atRoute, ...more }))));

  test.each([
    ['releases the permit of one whose release was lost', {}],
    [
      'releases the permit of one that failed, though an earlier one was released',
      { status: 'failed', permitReleased: true },
    ],
  ])('%s', async (_, more) => {
    const permit = { accountId: 'a', weight: 1, takenMs: 1 };
    memory.put(routeLimitKey(ROUTE), { used: 1, [permitAttribute(REQUEST_ID)]: permit });

    expect(await close(more)).toBe(true);

    expect(memory.get(routeLimitKey(ROUTE))).toEqual(expect.objectContaining({ used: 0 }));
  });

  test('writes nothing at the route once the permit is known to be released', async () => {
    await close({ permitReleased: true });

    // The attempts are read for tasks to cancel; the one write takes the request off the list.
    expect(memory.calls()).toEqual({ GetCommand: 1, QueryCommand: 1, UpdateCommand: 1 });
  });
});
