import { expect, test } from '@jest/globals';
import { findRouteLimit, takePermit } from '../../../../core/admission/route-limits.ts';
import { permitAttribute, routeLimitKey } from '../../../../core/table/keys.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { FIRST, memory, THROTTLED, TwoRoutes } from './two-routes.ts';

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
