import { expect, test } from '@jest/globals';
import { findRouteLimit, takePermit } from '../../../../core/admission/route-limits.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { permitAttribute, requestKey, routeLimitKey } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
import { attempts, givenAttempt } from './a-dispatch.ts';
import {
  ACCEPTED,
  BROKEN,
  CONTENT,
  FIRST,
  memory,
  NO_ACCESS,
  SECOND,
  THROTTLED,
  TwoRoutes,
} from './two-routes.ts';

test('a refusal of the only route keeps other requests from it as long as the request itself waits', async () => {
  const two = new TwoRoutes();
  two.routes = two.routes.slice(0, 1);
  two.configure(FIRST, { maxRunning: 2 });
  two.answers[FIRST] = { ...THROTTLED, retryAfterSeconds: 20 };
  const takesAnother = (): Promise<boolean> =>
    two.under(async () => {
      const limit = findRouteLimit(FIRST);
      const entrant = { requestId: 'img_other', accountId: 'b', weight: 1, starts: 1 };
      return limit !== undefined && (await takePermit(limit, entrant, two.clock.now())) !== undefined;
    });

  expect(await two.dispatch()).toEqual({ next: 'retry', waitSeconds: 20 });

  two.clock.advance(19);
  expect(await takesAnother()).toBe(false);
  two.clock.advance(1);
  expect(await takesAnother()).toBe(true);
});

test.each<[string, number, ProviderAnswer]>([
  ['whose call succeeded', 1, aDone('a')],
  ['whose call failed', 1, BROKEN],
  ['whose content was refused', 1, CONTENT],
  ['that met a busy route, which is paused, since there is another one', 2, THROTTLED],
])('a request %s does not put off the starts of its route', async (_, routes, answer) => {
  const two = new TwoRoutes();
  two.routes = two.routes.slice(0, routes);
  two.configure(FIRST, { maxRunning: 2 });
  two.answers[FIRST] = answer;

  await two.dispatch();

  expect(memory.get(routeLimitKey(FIRST))).not.toHaveProperty('nextStartMs');
  expect(two.state(FIRST)?.pauseReason).toBe(routes === 2 ? 'busy' : undefined);
});

test('a request that is assigned its route anew keeps the permit with which it was admitted', async () => {
  const two = new TwoRoutes();
  two.configure(FIRST, { maxRunning: 1 });
  const refused = { startedAt: two.in(-30), outcome: NO_ACCESS };
  givenAttempt({ provider: 'modelark', upstreamModel: 'one', ...refused });
  const permit = { accountId: ACCOUNT_ID, weight: 1, takenMs: two.clock.now().getTime() };
  // Others queue at the route.
  memory.put(routeLimitKey(FIRST), { used: 1, queued: 'a stamp', [permitAttribute(REQUEST_ID)]: permit });
  two.pause(FIRST, { forSeconds: -1 });
  two.pause(SECOND, { forSeconds: 300 });

  expect(await two.dispatch()).toMatchObject({ next: 'wait' });

  expect(two.called).toEqual([FIRST]);
  expect(attempts().at(-1)).toMatchObject({ assignment: 2, outcome: ACCEPTED });
});

test('a request that another run assigns a route meanwhile keeps its permit', async () => {
  const two = new TwoRoutes();
  two.configure(FIRST, { maxRunning: 1 });
  const permit = { accountId: ACCOUNT_ID, weight: 1, takenMs: two.clock.now().getTime() };
  memory.put(routeLimitKey(FIRST), { used: 1, [permitAttribute(REQUEST_ID)]: permit });
  two.pause(FIRST);
  memory.beforeCall = () => {
    const isBeingAssigned = memory.calls().UpdateCommand !== undefined;
    if (isBeingAssigned) memory.patch(requestKey(REQUEST_ID), { assignment: { route: FIRST, number: 2 } });
  };

  expect(await two.dispatch()).toEqual({ next: 'retry', waitSeconds: 1 });

  expect(memory.get(routeLimitKey(FIRST))).toMatchObject({ used: 1 });
});

test('a request gives its permit back once its route is closed to others: none is called in between', async () => {
  const two = new TwoRoutes();
  two.routes = two.routes.slice(0, 1);
  two.configure(FIRST, { maxRunning: 1 });
  two.answers[FIRST] = THROTTLED;
  const openAt: unknown[] = [];
  memory.beforeCall = () => {
    const { nextStartMs, ...limit } = memory.get(routeLimitKey(FIRST)) ?? {};
    const isFree = two.called.length > 0 && limit[permitAttribute(REQUEST_ID)] === undefined;
    if (isFree) openAt.push(nextStartMs);
  };

  expect(await two.dispatch()).toMatchObject({ next: 'retry', waitSeconds: 1 });

  expect(openAt).not.toContain(undefined);
  expect(memory.get(routeLimitKey(FIRST))).toMatchObject({ used: 0 });
});
