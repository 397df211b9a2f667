import { beforeEach, describe, expect, test } from '@jest/globals';
import { putQueueEntry } from '../../../core/admission/queue-entries.ts';
import { routeLimitOf } from '../../../core/admission/route-limit-rules.ts';
import { takePermit } from '../../../core/admission/route-limits.ts';
import { newRequestId } from '../../../core/ids.ts';
import { pauseRoute } from '../../../core/route-pauses/route-states.ts';
import { findOutlook, outlookOf, queuePositions, typicalSeconds } from '../../../ops/request-outlook.ts';
import { outlookText } from '../../../ops/request-text.ts';
import { atSeconds } from '../builders/clocks.ts';
import { ACCOUNT_ID, aVideoRequest, putRequest } from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';

const ROUTE = 'modelstudio/wan';
const LIMIT = { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 2 };
const NOW = atSeconds(1000);
beforeEach(() => {
  process.env.MODEL_ROUTES = JSON.stringify({ 'xW3.0s': LIMIT });
});

const at = (second: number): string => atSeconds(second).toISOString();
const assignment = { route: ROUTE, number: 1, at: at(0) };
const aRequest = (second: number, changes: Parameters<typeof aVideoRequest>[0] = {}) =>
  aVideoRequest({
    requestId: newRequestId('video', atSeconds(second)),
    ...{ createdAt: at(second), status: 'queued', assignment },
    ...changes,
  });
/** A request that took so many seconds at the route. */
const ended = (second: number, took: number) =>
  aRequest(second, {
    ...{ status: 'succeeded', dispatchedAt: at(second), finishedAt: at(second + took), expiresAt: at(9_000) },
    ttl: 9_999_999_999,
  });
const queue = (request: ReturnType<typeof aRequest>, accountId = ACCOUNT_ID) => {
  const { requestId, createdAt } = request;
  const token = { taskToken: 't', tokenOrder: '1', weight: 1, starts: 1 };
  return putQueueEntry(ROUTE, { requestId, accountId, createdAt, ...token }, NOW);
};

describe('the outlook of a request', () => {
  test('in a full queue is its position and the time of the rounds before it', async () => {
    const limit = routeLimitOf(ROUTE, LIMIT);
    for (const requestId of ['vid_1', 'vid_2']) {
      await takePermit(limit, { requestId, accountId: ACCOUNT_ID, weight: 1, starts: 1 }, NOW);
    }
    for (const [second, took] of [
      [1, 30],
      [2, 40],
      [3, 600],
    ] as const)
      putRequest(memory, ended(second, took));
    const waiting = [900, 901, 902].map((second) => aRequest(second));
    for (const request of waiting) await queue(request);
    await queue(aRequest(899), 'acc_other');

    const outlook = waiting[2] && (await findOutlook(waiting[2], NOW));

    // The other account has nothing running, and is first.
    expect(outlook).toEqual({
      waitsFor: `its turn at ${ROUTE}, 2 of 2 running`,
      ...{ position: 4, queued: 4, aboutSeconds: 2 * 40 + 40 },
    });
    expect(outlookText(outlook as NonNullable<typeof outlook>)).toBe(
      `its turn at ${ROUTE}, 2 of 2 running: 4 of 4, about 120 s`,
    );
    expect([...(await queuePositions(waiting)).values()]).toContain('4 of 4');
  });

  test('at a paused route says so, and gives no time', async () => {
    const request = aRequest(900);
    await queue(request);
    putRequest(memory, ended(1, 30));
    await pauseRoute(ROUTE, { reason: 'calls', callAt: at(990) }, NOW);

    expect(await findOutlook(request, NOW)).toEqual({
      waitsFor: `${ROUTE}, which is paused`,
      ...{ position: 1, queued: 1, aboutSeconds: null },
    });
  });

  test('at its provider is the rest of the usual time', async () => {
    putRequest(memory, ended(1, 30));
    const request = aRequest(970, { status: 'processing', dispatchedAt: at(980) });

    const outlook = await findOutlook(request, NOW);

    expect(outlook).toEqual({
      waitsFor: `the result of ${ROUTE}`,
      ...{ position: null, queued: null, aboutSeconds: 10 },
    });
    const late = await findOutlook({ ...request, dispatchedAt: at(900) }, NOW);
    expect(late && outlookText(late)).toBe(`the result of ${ROUTE}, longer than usual`);
  });

  test('gives no time where nothing of its account ended at the route lately', async () => {
    putRequest(memory, ended(1, 30));
    const elsewhere = { ...assignment, route: 'fal/wan' };
    const request = aRequest(970, { assignment: elsewhere });

    expect(await findOutlook(request, NOW)).toEqual({
      waitsFor: 'its first call to fal/wan',
      ...{ position: null, queued: null, aboutSeconds: null },
    });
  });

  test('is none before a route, and after the end', async () => {
    expect(await findOutlook(aRequest(1, { assignment: undefined }), NOW)).toBeUndefined();
    expect(await findOutlook(ended(1, 2), NOW)).toBeUndefined();
  });
});

test('The usual time is that of the middle request that succeeded at the route', () => {
  const other = { ...ended(4, 1), assignment: { ...assignment, route: 'fal/wan' } };

  expect(typicalSeconds([ended(1, 9), ended(2, 2), ended(3, 7), other], ROUTE)).toBe(7);
  expect(typicalSeconds([other], ROUTE)).toBeUndefined();
});

test('A route without a limit of calls has one turn at a time', () => {
  const request = aRequest(900);
  const queue = { order: [request.requestId], running: undefined, permits: undefined };

  expect(outlookOf(request, { queue, isPaused: false, typicalSeconds: 5 }, NOW)).toEqual({
    waitsFor: `its turn at ${ROUTE}`,
    ...{ position: 1, queued: 1, aboutSeconds: 10 },
  });
});
