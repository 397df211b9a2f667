import { describe, expect, test } from '@jest/globals';
import { routeStateKey } from '../../../../core/table/keys.ts';
import { memory } from './a-dispatch.ts';
import { FIRST, NO_ACCESS, SECOND, THROTTLED, TwoRoutes } from './two-routes.ts';

describe('a request that its route is too busy for', () => {
  test('stays for two minutes, tries again after each pause, and leaves with one call a minute', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = { ...THROTTLED, retryAfterSeconds: 3_600 };

    const waits = [];
    for (let step = await two.dispatch(); step.next === 'retry'; step = await two.dispatch()) {
      waits.push(step.waitSeconds);
      two.clock.advance(step.waitSeconds);
    }

    expect(waits).toEqual([60, 60]);
    expect(two.called).toEqual([FIRST, FIRST, SECOND]);
  });

  test('tries its only route once a minute until its deadline, whatever the provider asks for', async () => {
    const two = new TwoRoutes();
    two.routes = two.routes.slice(0, 1);
    two.answers[FIRST] = { ...THROTTLED, retryAfterSeconds: 3_600 };

    const steps = [];
    for (let step = await two.dispatch(); step.next === 'retry'; step = await two.dispatch()) {
      steps.push(step.waitSeconds);
      two.clock.advance(step.waitSeconds);
    }

    expect(steps).toEqual(Array(10).fill(60));
    expect(two.called).toHaveLength(10);
  });

  test('leaves at once when it tries a route that has been too busy for two minutes', async () => {
    const two = new TwoRoutes();
    two.pause(FIRST, { forSeconds: -1, pauseReason: 'busy' });
    memory.patch(routeStateKey(FIRST), { pausedAt: two.in(-121) });
    two.answers[FIRST] = THROTTLED;

    expect(await two.dispatchOn()).toMatchObject({ next: 'wait' });
    expect(two.called).toEqual([FIRST, SECOND]);
  });
});

describe('a request that its only usable route refused', () => {
  test.each([
    ['waits for another route that is paused', 'busy', { next: 'queue', route: SECOND }],
    ['fails when the other one refuses us too', 'access', { next: 'fail' }],
  ])('%s', async (_, pauseReason, step) => {
    const two = new TwoRoutes();
    two.answers[SECOND] = NO_ACCESS;
    two.pause(FIRST, { forSeconds: 60, pauseReason });

    expect(await two.dispatchOn()).toMatchObject(step);
    expect(two.called).toEqual([SECOND]);
  });
});
