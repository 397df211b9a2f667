import { describe, expect, test } from '@jest/globals';
import { type Choice, chooseRoute, type RouteWishes } from '../../../../core/dispatch/choose-route.ts';
import { leaveReason } from '../../../../core/dispatch/dispatch-rules.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { type PauseReason, type RouteState, UNPAUSED } from '../../../../core/route-pauses/pause-rules.ts';
import { at, atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';

const paused = (untilSeconds: number, pauseReason: PauseReason = 'calls', since = -60): RouteState => ({
  ...UNPAUSED,
  ...{ pauseReason, pausedAt: at(since), pausedUntil: at(untilSeconds), pauseSeconds: 30 },
});
const [ON, PAUSED, DUE, BUSY] = [UNPAUSED, paused(9), paused(-1), paused(9, 'busy')];
const go = (route: string, isTrial = false) => ({ kind: 'go', route, isTrial }) as const;
const [LEAVING, THROTTLED] = [{ leaving: 'it refused us' }, { isThrottled: true }];
const except = (...routes: string[]) => ({ except: new Map(routes.map((route) => [route, 'full'])) });

describe('a request', () => {
  test.each<[string, string | undefined, RouteState[], Partial<RouteWishes>, Partial<Choice>]>([
    ['without a route goes to the first', undefined, [ON, ON], {}, go('a')],
    ['without a route passes over a paused one', undefined, [PAUSED, ON], {}, go('b')],
    ['without a route tries one whose pause is over', undefined, [DUE, ON], {}, go('a', true)],
    [
      'without a route waits at the first of paused ones',
      undefined,
      [PAUSED, PAUSED],
      {},
      { kind: 'wait', route: 'a' },
    ],
    ['stays at its route', 'b', [ON, ON, ON], {}, go('b')],
    ['stays at its route to try it', 'b', [ON, DUE], {}, go('b', true)],
    ['leaves a route that is paused', 'b', [ON, PAUSED, ON], {}, go('a')],
    ['leaves a route that is paused for throttling, unless that met it', 'a', [BUSY, ON], {}, go('b')],
    [
      'stays through throttling that met it',
      'a',
      [BUSY, ON],
      THROTTLED,
      { kind: 'pause', route: 'a', until: at(9) },
    ],
    ['leaves a route that failed others, though that throttled it', 'a', [PAUSED, ON], THROTTLED, go('b')],
    ['leaves a route that it has to leave', 'a', [ON, ON], LEAVING, go('b')],
    ['leaves to try another one', 'a', [ON, DUE], LEAVING, go('b', true)],
    ['does not leave while nobody else can take it', 'a', [ON, PAUSED], LEAVING, go('a')],
    [
      'waits at its route while nobody can take it',
      'b',
      [PAUSED, PAUSED],
      LEAVING,
      { kind: 'wait', route: 'b' },
    ],
    ['passes over a route that cannot be tried', 'a', [DUE, ON], except('a'), go('b')],
    [
      'waits at a route that cannot be tried when there is no other',
      'a',
      [DUE, PAUSED],
      except('a'),
      { kind: 'wait', route: 'a' },
    ],
    ['whose route does not take it any more goes to the first', 'gone', [ON, ON], {}, go('a')],
    [
      'whose throttling route cannot be tried goes on',
      'a',
      [BUSY, ON],
      { ...THROTTLED, ...except('a') },
      go('b'),
    ],
  ])('%s', (_, assigned, states, wishes, expected) => {
    const options = states.map((state, index) => ({ route: 'abc'.charAt(index), state }));
    const all = { assigned, leaving: undefined, isThrottled: false, except: new Map(), ...wishes };

    expect(chooseRoute(options, all, NOW)).toMatchObject(expected);
  });

  test('says why the routes before its own were passed over', () => {
    const options = [
      { route: 'a', state: PAUSED },
      { route: 'b', state: ON },
      { route: 'c', state: DUE },
      { route: 'd', state: ON },
    ];
    const wishes = { assigned: 'b', ...LEAVING, isThrottled: false, ...except('c') };

    expect(chooseRoute(options, wishes, NOW)).toEqual({
      ...go('d'),
      passedOver: [
        { route: 'a', why: `paused since ${at(-60)}: calls` },
        { route: 'b', why: 'it refused us' },
        { route: 'c', why: 'full' },
      ],
    });
  });
});

describe('a request leaves its route', () => {
  const failure = { code: 'provider_error', message: 'no' } as const;
  const made = (outcome: ProviderAttempt['outcome'], startedSeconds = 0, attempt = 0, call = 0) =>
    anAttempt({ outcome, startedAt: at(startedSeconds), attempt, call });
  const throttled = { kind: 'busy', reason: '', obstacle: 'throttled' } as const;
  const unreached = { kind: 'busy', reason: '', obstacle: 'unreached' } as const;
  const refused = { kind: 'failed', failure, taken: 'no', obstacle: 'access' } as const;
  const own = { kind: 'failed', failure, taken: 'no' } as const;
  const unknown = { kind: 'failed', failure, taken: 'unknown' } as const;
  const busyFor = (seconds: number) => paused(9, 'busy', -seconds);

  test.each<[string, ProviderAttempt[], RouteState | undefined, number, string | undefined]>([
    ['never without a call', [], ON, 999, undefined],
    ['never after a refusal of its own', [made(own)], ON, 999, undefined],
    ['never while a call may have been taken', [made(unknown), made(refused, 0, 0, 1)], ON, 999, undefined],
    ['never while a task is open', [made({ kind: 'accepted', taskId: 't' })], ON, 999, undefined],
    ['never while a call is being made', [made(undefined), made(throttled, 0, 0, 1)], ON, 999, undefined],
    ['at once after a refusal of our key', [made(refused)], ON, 0, 'it refused us'],
    [
      'at once when our quota is used up',
      [made({ ...refused, obstacle: 'quota' })],
      ON,
      0,
      'our quota is used up',
    ],
    ['not after one try that did not reach it', [made(unreached)], ON, 29, undefined],
    ['after 30 s of tries', [made(unreached)], ON, 30, 'it was not reached'],
    ['after three tries', [0, 1, 2].map((n) => made(unreached, n, n)), ON, 3, 'it was not reached'],
    ['not before two minutes of throttling', [made(throttled), made(throttled, 60, 1)], ON, 119, undefined],
    [
      'after two minutes of throttling',
      [made(throttled), made(throttled, 60, 1)],
      ON,
      120,
      'it was too busy for two minutes',
    ],
    [
      'at once when others met throttling for two minutes',
      [made(throttled)],
      busyFor(120),
      0,
      'it was too busy for two minutes',
    ],
    ['not when others met it for less', [made(throttled)], busyFor(119), 0, undefined],
  ])('%s', (_, current, state, seconds, expected) => {
    expect(leaveReason(current, state, atSeconds(seconds))).toBe(expected);
  });
});
