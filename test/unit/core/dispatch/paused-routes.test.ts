import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { routeLimitKey, routeStateKey } from '../../../../core/table/keys.ts';
import { ASSIGNED, attempts, memory } from './a-dispatch.ts';
import {
  ACCEPTED,
  BROKEN,
  CONTENT,
  FIRST,
  INVALID,
  NO_ACCESS,
  SECOND,
  THROTTLED,
  TwoRoutes,
  UNREACHED,
} from './two-routes.ts';

describe('a route that is paused', () => {
  test('costs a request no call, and says why it was passed over', async () => {
    const two = new TwoRoutes();
    two.pause(FIRST);

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    const why = `paused since ${two.in(-30)}: calls`;
    expect(attempts()).toMatchObject([{ assignment: 2, passedOver: [{ route: FIRST, why }] }]);
  });

  test('is tried by one request a minute once its time is over', async () => {
    const two = new TwoRoutes();
    two.mode = 'asynchronous';
    two.pause(FIRST, { forSeconds: -1, pauseReason: 'tasks' });

    await two.burst(3);
    expect(two.called).toEqual([FIRST, SECOND, SECOND]);
    expect(two.state(FIRST)).toMatchObject({ pausedUntil: two.in(60), pauseSeconds: 30 });

    two.clock.advance(60);
    await two.burst(2);
    expect(two.called).toEqual([FIRST, SECOND, SECOND, FIRST, SECOND]);
  });

  test('is tried though a clock that was ahead paused it for a year', async () => {
    const two = new TwoRoutes();
    two.pause(FIRST, { forSeconds: 31_536_000 });

    await two.dispatch();

    expect(two.called).toEqual([FIRST]);
  });

  test.each<[string, string, ProviderAnswer, string | undefined]>([
    ['calls', 'a task is created', ACCEPTED, undefined],
    ['calls', 'the content is refused', CONTENT, undefined],
    ['access', 'a task is created', ACCEPTED, undefined],
    ['busy', 'a task is created', ACCEPTED, undefined],
    ['calls', 'the answer is a 5xx', BROKEN, 'calls'],
    ['calls', 'the provider is too busy', THROTTLED, 'busy'],
    ['calls', 'the input is refused', INVALID, 'calls'],
    ['access', 'our key is refused', NO_ACCESS, 'access'],
    ['tasks', 'a task is created', ACCEPTED, 'tasks'],
  ])('for %s is used again, or not, when %s', async (pauseReason, _, answer, after) => {
    const two = new TwoRoutes();
    two.pause(FIRST, { forSeconds: -1, pauseReason });
    two.answers[FIRST] = answer;

    await two.dispatch();

    expect(two.callsOf(FIRST)).toBe(1);
    expect(two.state(FIRST)?.pauseReason).toBe(after);
  });

  test('is paused for twice as long after a trial that fails', async () => {
    const two = new TwoRoutes();
    two.pause(FIRST, { forSeconds: -1 });
    two.answers[FIRST] = UNREACHED;

    await two.dispatch();

    expect(two.state(FIRST)).toMatchObject({ pauseSeconds: 60, pausedUntil: two.in(60) });
  });

  test('goes on being used by nobody when calls end that were under way before', async () => {
    const two = new TwoRoutes();
    two.pause(FIRST);
    const assignment = { ...ASSIGNED, route: FIRST, claimId: 'c' };
    two.given({ assignment });
    const state = two.state(FIRST);
    memory.patch(routeStateKey(FIRST), { pausedAt: two.in(5) });
    two.pause(FIRST, { forSeconds: -1 });
    memory.patch(routeStateKey(FIRST), { pausedAt: two.in(5) });

    await two.dispatch();

    expect(state).toBeDefined();
    expect(two.called).toEqual([FIRST]);
    expect(two.state(FIRST)).toMatchObject({ pausedAt: two.in(5) });
  });

  test('is not tried when it is full', async () => {
    const two = new TwoRoutes();
    two.fill(FIRST);
    two.pause(FIRST, { forSeconds: -1 });

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(two.state(FIRST)).toMatchObject({ pausedUntil: two.in(-1) });
  });

  test('gets its permit back when another request is first to try it', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });
    two.pause(FIRST, { forSeconds: -1 });
    const limit = () => memory.get(routeLimitKey(FIRST));
    memory.beforeCall = () => {
      if (limit()?.used === 1) memory.patch(routeStateKey(FIRST), { pausedUntil: two.in(60) });
    };

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(limit()).toMatchObject({ used: 0 });
    expect(attempts()).toMatchObject([{ passedOver: [{ route: FIRST, why: 'another request tries it' }] }]);
  });

  test('is queued at without a permit when another request is first to try it, and there is no other', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });
    two.pause(FIRST, { forSeconds: -1 });
    two.pause(SECOND, { forSeconds: 300 });
    const limit = () => memory.get(routeLimitKey(FIRST));
    memory.beforeCall = () => {
      if (limit()?.used === 1) memory.patch(routeStateKey(FIRST), { pausedUntil: two.in(60) });
    };

    expect(await two.dispatch()).toMatchObject({ next: 'queue', route: FIRST });

    expect(two.called).toEqual([]);
    expect(limit()).toMatchObject({ used: 0 });
  });

  test('with all others lets a request wait at its route, without a permit', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });
    for (const route of [FIRST, SECOND]) two.pause(route);

    expect(await two.dispatch()).toMatchObject({ next: 'queue', route: FIRST, weight: 1, starts: 1 });
    expect(two.called).toEqual([]);
    expect(memory.get(routeLimitKey(FIRST))).toBeUndefined();
  });
});
