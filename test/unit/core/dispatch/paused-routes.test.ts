import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer, ProviderPlan } from '../../../../core/provider-calls/providers.ts';
import { requestKey, routeLimitKey, routeStateKey } from '../../../../core/table/keys.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
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

let made = 0;
/** Dispatches so many new requests of an account, one after the other. */
const burst = async (two: TwoRoutes, count: number, accountId = 'acc_1'): Promise<void> => {
  for (let index = 0; index < count; index++) {
    const requestId = `img_${made++}`;
    const createdAt = two.clock.now().toISOString();
    const assignment = { ...ASSIGNED, route: FIRST };
    memory.put(requestKey(requestId), anImageRequest({ requestId, accountId, createdAt, assignment }));
    const step = await two.dispatch(requestId);
    if (step.next === 'retry' && step.waitSeconds === 1) await two.dispatch(requestId);
  }
};
const callsOf = (two: TwoRoutes, route: string): number => two.called.filter((name) => name === route).length;

describe('a route whose calls fail', () => {
  test.each<[string, ProviderAnswer]>([
    ['are answered with a 5xx', BROKEN],
    ['do not reach the provider', UNREACHED],
  ])('is paused after five of a hundred that %s', async (_, answer) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    await burst(two, 100);

    expect(callsOf(two, SECOND)).toBeGreaterThan(94);
    expect(two.state(FIRST)).toMatchObject({ pauseReason: 'calls', pausedAt: two.clock.now().toISOString() });
  });

  test('is paused after one that our key was refused for', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = NO_ACCESS;

    await burst(two, 10);

    expect(callsOf(two, FIRST)).toBe(1);
    expect(callsOf(two, SECOND)).toBe(10);
    expect(two.state(FIRST)).toMatchObject({ pauseReason: 'access', pauseSeconds: 30 });
  });

  test.each([
    [undefined, 5],
    [3, 3],
    [900, 60],
  ])(
    'is paused after one that it was too busy for, with a Retry-After of %p for %i s',
    async (wanted, seconds) => {
      const two = new TwoRoutes();
      two.answers[FIRST] = { ...THROTTLED, retryAfterSeconds: wanted };

      await burst(two, 10);

      expect(two.called).toEqual([FIRST, ...Array(9).fill(SECOND)]);
      expect(two.state(FIRST)).toMatchObject({ pauseReason: 'busy', pausedUntil: two.in(seconds) });
    },
  );

  test.each<[string, ProviderAnswer]>([
    ['content', CONTENT],
    ['input', INVALID],
    ['slow files', { ...BROKEN, blamesInput: true }],
  ])('for their own %s is not paused', async (_, answer) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    await burst(two, 20);

    expect(callsOf(two, FIRST)).toBe(20);
    expect(two.state(FIRST)?.pausedAt).toBeUndefined();
  });

  test.each<[string, ProviderPlan['mode'], ProviderAnswer]>([
    ['work', 'synchronous', aDone('https://a.example/1')],
    ['create tasks', 'asynchronous', ACCEPTED],
    ['are refused for their content', 'asynchronous', CONTENT],
  ])('less often than others %s is not paused, whichever come first', async (_, mode, answer) => {
    const two = new TwoRoutes();
    two.mode = mode;
    two.answers[FIRST] = answer;
    for (let count = 0; count < 12; count++) {
      await burst(two, 1);
      two.clock.advance(1);
    }
    two.answers[FIRST] = BROKEN;
    await burst(two, 11);
    expect(callsOf(two, SECOND)).toBe(0);

    await burst(two, 2);
    expect(callsOf(two, SECOND)).toBe(1);
  });

  test('of one caller only is not paused while another caller’s work', async () => {
    const two = new TwoRoutes();
    for (let round = 0; round < 10; round++) {
      two.answers[FIRST] = ACCEPTED;
      await burst(two, 1, 'acc_other');
      two.answers[FIRST] = BROKEN;
      await burst(two, 5, 'acc_poison');
      two.clock.advance(10);
    }

    expect(callsOf(two, SECOND)).toBe(0);
  });

  test.each([
    ['within five minutes', 240, 5],
    ['of more than five minutes ago', 300, 8],
  ])('%s counts: eight of them pause it after %i s or not', async (_, seconds, calls) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = BROKEN;
    await burst(two, 4);
    two.clock.advance(seconds);
    await burst(two, 4);

    expect(callsOf(two, FIRST)).toBe(calls);
  });

  test('of a model with one route writes no state', async () => {
    const two = new TwoRoutes();
    two.routes = two.routes.slice(0, 1);
    two.answers[FIRST] = BROKEN;

    await burst(two, 6);

    expect(two.state(FIRST)).toBeUndefined();
  });
});

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

    await burst(two, 3);
    expect(two.called).toEqual([FIRST, SECOND, SECOND]);
    expect(two.state(FIRST)).toMatchObject({ pausedUntil: two.in(60), pauseSeconds: 30 });

    two.clock.advance(60);
    await burst(two, 2);
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

    expect(callsOf(two, FIRST)).toBe(1);
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

  test('with all others lets a request wait at its route, without a permit', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });
    for (const route of [FIRST, SECOND]) two.pause(route);

    expect(await two.dispatch()).toMatchObject({ next: 'queue', route: FIRST, weight: 1, starts: 1 });
    expect(two.called).toEqual([]);
    expect(memory.get(routeLimitKey(FIRST))).toBeUndefined();
  });
});

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
