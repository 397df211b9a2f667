import { takenOf } from '../provider-calls/attempt-rules.ts';
import type { AttemptOutcome, ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';

/** How often calls or tasks of a route failed and worked, by the minute they were counted in: minutes since 1970. */
export interface Ends {
  bad: ReadonlyMap<number, number>;
  good: ReadonlyMap<number, number>;
}

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
  /** Counted apart: a task that fails was a call that worked. */
  calls: Ends;
  tasks: Ends;
}

const NONE: Ends = { bad: new Map(), good: new Map() };
/** A route that nothing is known of. */
export const CLOSED: Circuit = { calls: NONE, tasks: NONE };

/** Whether requests go elsewhere. */
export const isLeftOut = ({ opened, leftAt }: Circuit): boolean =>
  opened !== undefined || leftAt !== undefined;

/** Whether one request may try a route that is left out because of failures; with an id, also the request that tries it already. */
export const mayProbe = ({ opened, leftAt }: Circuit, now: Date, requestId?: string): boolean => {
  if (opened === undefined || leftAt !== undefined) return false;
  const isOwn = opened.probe !== undefined && opened.probe.requestId === requestId;
  return isOwn || toInstant(now) >= (opened.probe?.until ?? opened.until);
};

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
export const isWatched = ({ calls, tasks }: Circuit, now: Date): boolean =>
  [calls, tasks].some(({ bad }) => inWindow(bad, now) > 0);

/** Whether so many failed lately that the route is left out. */
export const isFailing = ({ bad, good }: Ends, now: Date): boolean => {
  const failed = inWindow(bad, now);
  return failed >= FEWEST_BAD && failed >= inWindow(good, now);
};

/** What the end of a call or task tells of its route. */
export type Sign =
  /** It made what was asked for. */
  | 'done'
  /** It works, and decided about the content. */
  | 'content'
  /** It created a task. */
  | 'accepted'
  | 'bad'
  /** It refused our key, our account or the model. */
  | 'refused'
  /** Such as that the input was at fault: otherwise one caller could have a route left out for all. */
  | 'nothing';

/** The signs of a call that a provider handled. */
export const WORKS: readonly Sign[] = ['done', 'content', 'accepted'];

type Ended = Pick<ProviderAttempt, 'taskId' | 'outcome'>;

/** What the answer to a creation call tells of its route. */
export const signOfCall = (attempt: Ended): Sign => {
  const { outcome } = attempt;
  switch (outcome?.kind) {
    case 'accepted':
    case 'done':
      return outcome.kind;
    case 'lost':
      return 'bad';
    case 'busy':
      return outcome.obstacle === 'unreached' ? 'bad' : 'nothing';
    case 'failed':
      if (outcome.obstacle === 'access') return 'refused';
      if (outcome.obstacle === 'quota') return 'bad';
      return takenOf(attempt) === 'no' && outcome.failure.code !== 'content_policy'
        ? 'nothing'
        : signOfFailure(outcome);
    default:
      return 'nothing';
  }
};

/** What an attempt tells of its route once its task has ended. One that was lost or never ended tells nothing: it may be ours. */
export const signOfTask = ({ taskId, outcome }: Ended): Sign => {
  if (taskId === undefined) return 'nothing';
  if (outcome?.kind === 'done') return 'done';
  return outcome?.kind === 'failed' ? signOfFailure(outcome) : 'nothing';
};

const signOfFailure = ({ failure, blamesInput }: Extract<AttemptOutcome, { kind: 'failed' }>): Sign => {
  if (failure.code === 'content_policy') return 'content';
  return blamesInput ? 'nothing' : 'bad';
};
