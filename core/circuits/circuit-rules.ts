import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { takenOf } from '../provider-calls/taken.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';

/** What a route was left out for: failed calls, a refusal of our key, account or model, or failed tasks. */
export const CAUSES = ['calls', 'access', 'tasks'] as const;
export type Cause = (typeof CAUSES)[number];

/** Whether a route is used, as the table knows. A route without an item is. */
export interface Circuit {
  /** While the route is left out because of failures. */
  opened?:
    | {
        cause: Cause;
        since: Instant;
        /** When one request may try the route. */
        until: Instant;
        /** How long it was left out the last time. */
        pauseSeconds: number;
        /** The request that tries it. */
        probe?: { requestId: string; until: Instant } | undefined;
      }
    | undefined;
  /** Since when an operator leaves it out. */
  leftAt?: Instant | undefined;
  /** Ends of calls and tasks by the minute they were counted in: minutes since 1970. */
  bad: ReadonlyMap<number, number>;
  good: ReadonlyMap<number, number>;
}

/** A route that nothing is known of. */
export const CLOSED: Circuit = { bad: new Map(), good: new Map() };

/** Whether requests go elsewhere. */
export const isLeftOut = ({ opened, leftAt }: Circuit): boolean =>
  opened !== undefined || leftAt !== undefined;

/** Whether one request may try a route that is left out because of failures. */
export const mayProbe = ({ opened, leftAt }: Circuit, now: Date): boolean =>
  opened !== undefined && leftAt === undefined && toInstant(now) >= (opened.probe?.until ?? opened.until);

/** Why a route is left out, in words for an operator. */
export const whyLeftOut = ({ opened, leftAt }: Circuit): string => {
  if (leftAt !== undefined) return `left out by hand since ${leftAt}`;
  return `left out since ${opened?.since}: ${opened?.cause}`;
};

const FIRST_PAUSE_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 300;

/** How long a route is left out after a probe that failed. */
export const pauseAfter = (pauseSeconds: number | undefined): number =>
  pauseSeconds === undefined ? FIRST_PAUSE_SECONDS : Math.min(LONGEST_PAUSE_SECONDS, 2 * pauseSeconds);

/** Longer than a call for a task may take. */
const PROBE_SECONDS = 90;

/** Until when a request may try a route. With `isAnsweredAtOnce`, the answer to its call decides, and comes soon. */
export const probeEnd = (isAnsweredAtOnce: boolean, deadline: Instant, now: Date): Instant => {
  const answered = addSeconds(toInstant(now), PROBE_SECONDS);
  return isAnsweredAtOnce && answered < deadline ? answered : deadline;
};

/** Failures count for so long, and so many open the circuit. */
export const WINDOW_MINUTES = 5;
const FEWEST_BAD = 5;

/** The minute that an end is counted in. */
export const minuteOf = (now: Date): number => Math.floor(now.getTime() / 60_000);

const inWindow = (counts: ReadonlyMap<number, number>, now: Date): number =>
  [...counts].reduce(
    (sum, [minute, count]) => (minute > minuteOf(now) - WINDOW_MINUTES ? sum + count : sum),
    0,
  );

/** Whether anything failed lately, so that what works is counted too. */
export const isWatched = ({ bad }: Circuit, now: Date): boolean => inWindow(bad, now) > 0;

/** Whether so many failed lately that the route is left out. */
export const isFailing = ({ bad, good }: Circuit, now: Date): boolean => {
  const failed = inWindow(bad, now);
  return failed >= FEWEST_BAD && failed >= inWindow(good, now);
};

/** What the end of a call or task tells of its route. */
export type Sign =
  /** It works. A content decision is one, too. */
  | 'good'
  | 'bad'
  /** It refused our key, our account or the model. */
  | 'refused'
  /** It created a task. */
  | 'accepted'
  | 'nothing';

/** What the answer to a creation call tells of its route. */
export const signOfCall = (attempt: Pick<ProviderAttempt, 'taskId' | 'outcome'>): Sign => {
  const { outcome } = attempt;
  switch (outcome?.kind) {
    case 'accepted':
      return 'accepted';
    case 'done':
      return 'good';
    case 'lost':
      return 'bad';
    case 'busy':
      return outcome.obstacle === 'unreached' ? 'bad' : 'nothing';
    case 'failed':
      if (outcome.failure.code === 'content_policy') return 'good';
      if (outcome.obstacle === 'access') return 'refused';
      return outcome.obstacle === 'quota' || takenOf(attempt) !== 'no' ? 'bad' : 'nothing';
    default:
      return 'nothing';
  }
};

/** What an attempt tells of its route once its task has ended. One that was lost or never ended tells nothing: it may be ours. */
export const signOfTask = ({ taskId, outcome }: Pick<ProviderAttempt, 'taskId' | 'outcome'>): Sign => {
  if (taskId === undefined) return 'nothing';
  if (outcome?.kind === 'done') return 'good';
  if (outcome?.kind !== 'failed') return 'nothing';
  return outcome.failure.code === 'content_policy' ? 'good' : 'bad';
};
