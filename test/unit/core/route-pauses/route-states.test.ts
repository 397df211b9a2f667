import { expect, test } from '@jest/globals';
import {
  endPause,
  pauseRoute,
  readRouteStates,
  takeTrial,
} from '../../../../core/route-pauses/route-states.ts';
import { routeStateKey } from '../../../../core/table/keys.ts';
import { at, atSeconds, NOW } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';

const ROUTE = 'modelstudio/qwen-image';
/** The state of a route that is paused until then. */
const paused = (untilSeconds: number, more = {}) => ({
  ...{ pauseReason: 'calls', pausedAt: at(-60), pausedUntil: at(untilSeconds), pauseSeconds: 60 },
  ...more,
});
const stored = () => memory.get(routeStateKey(ROUTE));

test.each<[string, boolean, object]>([
  ['is in use', false, {}],
  ['is paused for another second', false, paused(1)],
  ['is paused until now', true, paused(0)],
  ['is paused for as long as a pause and a trial last', false, paused(360)],
  ['is paused for longer than any pause lasts', true, paused(361)],
])('a route that %s may be tried by a request: %p', async (_, isTaken, state) => {
  memory.put(routeStateKey(ROUTE), state);

  expect(await takeTrial(ROUTE, NOW)).toBe(isTaken);

  expect(stored()).toMatchObject(isTaken ? { ...state, pausedUntil: at(60) } : state);
});

test.each([
  ...['calls', 'access', 'tasks', 'busy'].map((reason) => [reason, reason]),
  ['of another release', 'calls'],
])('a pause for %p is read as one for %p', async (pauseReason, expected) => {
  memory.put(routeStateKey(ROUTE), paused(30, { pauseReason }));

  expect((await readRouteStates([ROUTE])).get(ROUTE)).toMatchObject({ pauseReason: expected });
});

test('a trial is taken by one of many', async () => {
  memory.put(routeStateKey(ROUTE), paused(0));

  const taken = await Promise.all(Array.from({ length: 9 }, () => takeTrial(ROUTE, NOW)));

  expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
});

test.each<[string, string, 'call' | 'task', number, boolean]>([
  ['a call that began since', 'calls', 'call', -59, true],
  ['a call that was under way', 'calls', 'call', -61, false],
  ['a call of the instant of the pause', 'calls', 'call', -60, false],
  ['a task that began since', 'calls', 'task', -59, false],
  ['a call', 'tasks', 'call', -59, false],
  ['a task that began since', 'tasks', 'task', -59, true],
  ['a task that was under way', 'tasks', 'task', -61, false],
  ['a call that began since', 'busy', 'call', -59, true],
])('the end of %s ends a pause for %s, or not', async (_, pauseReason, of, startedSeconds, isEnded) => {
  memory.put(routeStateKey(ROUTE), paused(30, { pauseReason, 'calls-bad#1#1': 5 }));
  await readRouteStates([ROUTE]);

  await endPause(ROUTE, of, at(startedSeconds), NOW);

  expect(stored()?.pausedAt === undefined).toBe(isEnded);
});

test('a route is paused for twice as long, five minutes at most, after each trial that fails', async () => {
  let seconds = 0;
  const lengths = [];
  for (let round = 0; round < 6; round++) {
    await pauseRoute(ROUTE, { reason: 'calls', callAt: at(seconds) }, atSeconds(seconds + 1));
    lengths.push(stored()?.pauseSeconds);
    seconds += 400;
  }

  expect(lengths).toEqual([30, 60, 120, 240, 300, 300]);
});

test('calls that were under way do not lengthen a pause, and of several trials one does', async () => {
  memory.put(routeStateKey(ROUTE), paused(-1));
  const now = atSeconds(1_000);
  for (const startedSeconds of [-61, -60]) {
    await pauseRoute(ROUTE, { reason: 'calls', callAt: at(startedSeconds) }, now);
    expect(stored()).toMatchObject({ pausedUntil: at(-1) });
  }

  await Promise.all([1, 2, 3].map(() => pauseRoute(ROUTE, { reason: 'calls', callAt: at(-59) }, now)));
  expect(stored()).toMatchObject({ pauseSeconds: 120, pausedUntil: at(1_120) });
});
