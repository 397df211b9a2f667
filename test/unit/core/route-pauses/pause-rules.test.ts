import { describe, expect, test } from '@jest/globals';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import {
  type Counted,
  countName,
  type End,
  isFailing,
  nextPauseSeconds,
  type PauseReason,
  type RouteResult,
  resultOfCall,
  resultOfTask,
  UNPAUSED,
} from '../../../../core/route-pauses/pause-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { aDone } from '../../builders/providers.ts';

const failure = { code: 'provider_error', message: 'no' } as const;
const content = { code: 'content_policy', message: 'no' } as const;

type Outcome = ProviderAttempt['outcome'];

describe('what an end says about its route', () => {
  test.each<[string, Outcome, RouteResult]>([
    ['a task was created', { kind: 'accepted', taskId: 't' }, 'good'],
    ['outputs', aDone('a'), 'good'],
    ['a content decision', { kind: 'failed', taken: 'no', failure: content }, 'good'],
    ['input at fault', { kind: 'failed', taken: 'no', failure, blamesInput: true }, 'nothing'],
    ['a 4xx', { kind: 'failed', taken: 'no', failure }, 'nothing'],
    ['a slow file', { kind: 'failed', taken: 'unknown', failure, blamesInput: true }, 'nothing'],
    ['a 5xx', { kind: 'failed', taken: 'unknown', failure }, 'bad'],
    ['a 5xx that is documented as not taken', { kind: 'busy', reason: '', obstacle: 'unreached' }, 'bad'],
    ['a lost answer', { kind: 'lost', failure }, 'bad'],
    ['throttling', { kind: 'busy', reason: '', obstacle: 'throttled' }, 'busy'],
    ['throttling of another version', { kind: 'busy', reason: '' }, 'busy'],
    ['a refusal of our key', { kind: 'failed', taken: 'no', failure, obstacle: 'access' }, 'refused'],
    ['a quota that is used up', { kind: 'failed', taken: 'no', failure, obstacle: 'quota' }, 'refused'],
    ['nothing yet', undefined, 'nothing'],
    ['what another version wrote', { kind: 'unreadable' }, 'nothing'],
  ])('of a creation call: %s', (_, outcome, result) => {
    expect(resultOfCall({ outcome })).toBe(result);
  });

  test.each<[string, string | undefined, Outcome, RouteResult]>([
    ['outputs', 't', aDone('a'), 'good'],
    ['a content decision', 't', { kind: 'failed', failure: content }, 'good'],
    ['input at fault', 't', { kind: 'failed', failure, blamesInput: true }, 'nothing'],
    ['a failure', 't', { kind: 'failed', failure }, 'bad'],
    ['a task that was lost', 't', { kind: 'lost', failure }, 'nothing'],
    ['a task that never ended', 't', { kind: 'accepted', taskId: 't' }, 'nothing'],
    ['outputs without a task', undefined, aDone('a'), 'nothing'],
  ])('of a task: %s', (_, taskId, outcome, result) => {
    expect(resultOfTask({ taskId, outcome })).toBe(result);
  });
});

const [POISON, OTHER] = ['acc_poison', 'acc_other'];
/** Ends of accounts, so many seconds ago. */
type Ended = [account: string, end: End, count: number, secondsAgo?: number, counted?: Counted];
const stateOf = (ends: readonly Ended[]) => ({
  ...UNPAUSED,
  counts: new Map(
    ends.map(([account, end, count, secondsAgo = 0, counted = 'calls']) => [
      countName(counted, end, account, atSeconds(-secondsAgo)),
      count,
    ]),
  ),
});

describe('a route fails', () => {
  test.each<[boolean, string, Ended[]]>([
    [false, 'four bad ends', [[POISON, 'bad', 4]]],
    [true, 'five bad ends', [[POISON, 'bad', 5]]],
    [
      true,
      'as many bad as good ends',
      [
        [POISON, 'bad', 8],
        [POISON, 'good', 8, 200],
      ],
    ],
    [
      false,
      'more good than bad ends',
      [
        [POISON, 'bad', 8],
        [POISON, 'good', 9, 200],
      ],
    ],
    [
      false,
      'five bad of 120 ends',
      [
        [POISON, 'bad', 5],
        [OTHER, 'good', 120, 100],
      ],
    ],
    [
      false,
      'bad ends of one caller only',
      [
        [POISON, 'bad', 60],
        [OTHER, 'good', 1],
      ],
    ],
    [
      true,
      'bad ends of two callers',
      [
        [POISON, 'bad', 60],
        [OTHER, 'bad', 2],
        [OTHER, 'good', 2],
      ],
    ],
    [
      false,
      'four bad ends lately',
      [
        [POISON, 'bad', 4],
        [POISON, 'bad', 9, 360],
      ],
    ],
    [
      true,
      'good ends long ago',
      [
        [POISON, 'bad', 5],
        [POISON, 'good', 99, 360],
      ],
    ],
    [true, 'bad ends by a clock that is ahead', [[POISON, 'bad', 5, -60]]],
    [false, 'failed tasks, as far as calls go', [[POISON, 'bad', 9, 0, 'tasks']]],
    [
      true,
      'failed calls beside tasks that work',
      [
        [POISON, 'bad', 5],
        [POISON, 'good', 99, 0, 'tasks'],
      ],
    ],
  ])('%p: %s', (expected, _, ends) => {
    expect(isFailing(stateOf(ends), 'calls', NOW)).toBe(expected);
  });
});

describe('failed tasks pause a route', () => {
  test.each<[boolean, string, Ended[]]>([
    [true, 'when no call was counted', [[POISON, 'bad', 5, 0, 'tasks']]],
    [
      true,
      'when half of the accepted ones have failed',
      [
        [POISON, 'bad', 5, 0, 'tasks'],
        [POISON, 'good', 10],
      ],
    ],
    [
      false,
      'not while most of the accepted ones go on',
      [
        [POISON, 'bad', 5, 0, 'tasks'],
        [OTHER, 'good', 100],
      ],
    ],
    [
      false,
      'not beside as many that were accepted long ago and have succeeded',
      [
        [POISON, 'bad', 5, 0, 'tasks'],
        [OTHER, 'good', 6, 0, 'tasks'],
      ],
    ],
    [
      true,
      'when calls were accepted long ago only',
      [
        [POISON, 'bad', 5, 0, 'tasks'],
        [POISON, 'good', 100, 360],
      ],
    ],
  ])('%p: %s', (expected, _, ends) => {
    expect(isFailing(stateOf(ends), 'tasks', NOW)).toBe(expected);
  });
});

test.each<[PauseReason, PauseReason | undefined, number | undefined, number | undefined, number]>([
  ['calls', undefined, undefined, undefined, 30],
  ['calls', 'calls', 30, undefined, 60],
  ['access', 'access', 240, undefined, 300],
  ['tasks', 'busy', 60, undefined, 30],
  ['busy', undefined, undefined, undefined, 5],
  ['busy', 'busy', 5, undefined, 10],
  ['busy', 'busy', 40, undefined, 60],
  ['busy', 'calls', 300, undefined, 60],
  ['busy', undefined, undefined, 0, 1],
  ['busy', undefined, undefined, 45, 45],
  ['busy', 'busy', 60, 3_600, 60],
])(
  'a pause for %s after one for %s of %s s, with a Retry-After of %s, lasts %i s',
  (reason, pauseReason, pauseSeconds, retryAfter, seconds) => {
    expect(nextPauseSeconds(reason, { pauseReason, pauseSeconds }, retryAfter)).toBe(seconds);
  },
);
