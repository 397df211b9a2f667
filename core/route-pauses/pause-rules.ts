import * as z from 'zod/mini';
import { MOST_RETRY_AFTER_SECONDS, takenOf } from '../provider-calls/attempt-rules.ts';
import type { AttemptOutcome, ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';

/** The reason of a route's pause: failed calls, a refusal of our key, account or model, failed tasks, or throttling. */
const REASONS = ['calls', 'access', 'tasks', 'busy'] as const;
export type PauseReason = (typeof REASONS)[number];

/**
 * The pause of a route, as stored; a route without an item is used. While `pausedAt` is set, the route is paused. From `pausedUntil` on, one
 * request may try it. `pauseSeconds` is how long that pause was.
 */
export const StoredRouteState = z.object({
  pauseReason: z.optional(z.catch(z.enum(REASONS), 'calls')),
  pausedAt: z.optional(z.string()),
  pausedUntil: z.optional(z.string()),
  pauseSeconds: z.optional(z.number()),
});
/** `counts` are how many calls and tasks ended lately, by the names of the counts. */
export type RouteState = z.infer<typeof StoredRouteState> & { counts: ReadonlyMap<string, number> };

/** A route that nothing is known of. */
export const UNPAUSED: RouteState = { counts: new Map() };

/** Whether requests are assigned to other routes. */
export const isPaused = ({ pausedAt }: RouteState): boolean => pausedAt !== undefined;

/** A trial is a lease of this length. */
export const TRIAL_SECONDS = 60;
const FIRST_PAUSE_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 300;
const FIRST_BUSY_SECONDS = 5;

/** An instant that no pause can reach: a clock that was ahead wrote a later one. */
export const farthestPause = (now: Date): Instant =>
  addSeconds(toInstant(now), LONGEST_PAUSE_SECONDS + TRIAL_SECONDS);

/** Whether one request may try a paused route now. */
export const mayTry = (state: RouteState, now: Date): boolean => {
  const { pausedUntil = '' } = state;
  return isPaused(state) && (pausedUntil <= toInstant(now) || pausedUntil > farthestPause(now));
};

/** Why a route is paused, in words for an operator. */
export const whyPaused = ({ pauseReason, pausedAt }: RouteState): string =>
  `paused since ${pausedAt}: ${pauseReason}`;

/**
 * The length of the next pause after one of `pauseSeconds`. A provider's own `Retry-After` counts up to 60 s; a busy provider is tried at
 * least once a minute.
 */
export const nextPauseSeconds = (
  reason: PauseReason,
  { pauseReason, pauseSeconds }: Pick<RouteState, 'pauseReason' | 'pauseSeconds'>,
  retryAfterSeconds?: number,
): number => {
  if (reason !== 'busy')
    return pauseSeconds === undefined || pauseReason === 'busy'
      ? FIRST_PAUSE_SECONDS
      : Math.min(LONGEST_PAUSE_SECONDS, 2 * pauseSeconds);
  const doubled = pauseSeconds === undefined ? FIRST_BUSY_SECONDS : 2 * pauseSeconds;
  return Math.max(1, Math.min(MOST_RETRY_AFTER_SECONDS, retryAfterSeconds ?? doubled));
};

/** Calls and tasks are counted apart: a failed task was a call that worked. */
const COUNTED = ['calls', 'tasks'] as const;
export type Counted = (typeof COUNTED)[number];
/** The two ends that count. */
export const ENDS = ['bad', 'good'] as const;
export type End = (typeof ENDS)[number];

/** Ends count for so long, and so many bad ones can pause a route. */
const WINDOW_MINUTES = 5;
const FEWEST_BAD = 5;
/** Accounts are counted in so many groups, so that the item stays small. */
const GROUPS = 16;

/** The group that an account is counted in. */
const groupOf = (accountId: string): number =>
  [...accountId].reduce((hash, character) => (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521, 7) %
  GROUPS;

const minuteOf = (now: Date): number => Math.floor(now.getTime() / 60_000);

/** The name of the count that an end adds to: of its kind, its end, the minute since 1970, and the group of its account. */
export const countName = (counted: Counted, end: End, accountId: string, now: Date): string =>
  `${counted}-${end}#${minuteOf(now)}#${groupOf(accountId)}`;

/** A count by its name; undefined for another attribute, and for a count that is too old. The clock that counted may be ahead. */
const readCount = (name: string, now: Date) => {
  const [kind = '', minute = '', group = ''] = name.split('#');
  const ago = minuteOf(now) - Number(minute);
  return group === '' || ago >= WINDOW_MINUTES || ago < -1 ? undefined : { kind, group };
};

/** The names of the counts that are too old. */
export const outdatedCounts = ({ counts }: RouteState, now: Date): string[] =>
  [...counts.keys()].filter((name) => readCount(name, now) === undefined);

/** The counts of the last 5 minutes of each group of accounts, by kind and end. */
const countsByGroup = ({ counts }: RouteState, now: Date): Map<string, number>[] => {
  const groups = new Map<string, Map<string, number>>();
  for (const [name, count] of counts) {
    const read = readCount(name, now);
    if (!read) continue;
    const group = groups.get(read.group) ?? new Map<string, number>();
    groups.set(read.group, group.set(read.kind, (group.get(read.kind) ?? 0) + count));
  }
  return [...groups.values()];
};

/**
 * The bad and good ends of a group. A task that was accepted and has not failed counts as good: a video takes minutes, so that the first
 * tasks to end would else be the failed ones.
 */
const endsOf = (group: ReadonlyMap<string, number>, counted: Counted): Record<End, number> => {
  const of = (kind: string): number => group.get(kind) ?? 0;
  const bad = of(`${counted}-bad`);
  const ended = of(`${counted}-good`);
  return { bad, good: counted === 'tasks' ? Math.max(ended, of('calls-good') - bad) : ended };
};

/**
 * Whether a route should be paused: at least 5 of the ends in the last 5 minutes, and at least half, were bad. At least half must
 * also be bad without the group of accounts with the most bad ends, so that one caller's failures do not pause a route for every
 * caller.
 */
export const isFailing = (state: RouteState, counted: Counted, now: Date): boolean => {
  const all = countsByGroup(state, now)
    .map((group) => endsOf(group, counted))
    .sort((one, other) => other.bad - one.bad);
  const total = (of: readonly Record<End, number>[], end: End): number =>
    of.reduce((sum, group) => sum + group[end], 0);
  const isMostlyBad = (of: readonly Record<End, number>[]): boolean => total(of, 'bad') >= total(of, 'good');
  return total(all, 'bad') >= FEWEST_BAD && isMostlyBad(all) && isMostlyBad(all.slice(1));
};

/** The effect of a call's or task's end on the state of its route. */
export type RouteResult =
  /** The provider works: it made what was asked for, took the call, or decided about the content. */
  | 'good'
  | 'bad'
  /** The provider refused our key, our account or the model, or our quota there is used up. */
  | 'refused'
  /** The provider was too busy. */
  | 'busy'
  /** The input was at fault, say: otherwise one caller could have a route paused for all. */
  | 'nothing';

type Ended = Pick<ProviderAttempt, 'taskId' | 'outcome'>;

/** The effect of the answer to a creation call on the state of its route. */
export const resultOfCall = (attempt: Ended): RouteResult => {
  const { outcome } = attempt;
  switch (outcome?.kind) {
    case 'accepted':
    case 'done':
      return 'good';
    case 'lost':
      return 'bad';
    case 'busy':
      return outcome.obstacle === 'unreached' ? 'bad' : 'busy';
    case 'failed':
      if (outcome.obstacle === 'access' || outcome.obstacle === 'quota') return 'refused';
      if (outcome.obstacle !== undefined) return 'bad';
      return takenOf(attempt) === 'no' && outcome.failure.code !== 'content_policy'
        ? 'nothing'
        : resultOfFailure(outcome);
    default:
      return 'nothing';
  }
};

/** What an attempt says about its route once its task has ended. A task that was lost or never ended says nothing: that may be our fault. */
export const resultOfTask = ({ taskId, outcome }: Ended): RouteResult => {
  if (taskId === undefined) return 'nothing';
  if (outcome?.kind === 'done') return 'good';
  return outcome?.kind === 'failed' ? resultOfFailure(outcome) : 'nothing';
};

const resultOfFailure = ({
  failure,
  blamesInput,
}: Extract<AttemptOutcome, { kind: 'failed' }>): RouteResult => {
  if (failure.code === 'content_policy') return 'good';
  return blamesInput ? 'nothing' : 'bad';
};
