import * as z from 'zod/mini';
import { takenOf } from '../provider-calls/attempt-rules.ts';
import type { AttemptOutcome, ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';

/** What a route was left out for: failed calls, a refusal of our key, account or model, or failed tasks. */
const CAUSES = ['calls', 'access', 'tasks'] as const;
export type Cause = (typeof CAUSES)[number];

/**
 * Whether a route is used, as the table knows. A route without an item is. `leftAt` is since when an operator leaves it out. The others are set
 * while it is left out because of failures: since `openedAt`, and until `openUntil` no request may try it. `pauseSeconds` is how long that was the
 * last time. `probe` is the id of the request that tries it, until `probeUntil`.
 */
export const StoredCircuit = z.object({
  cause: z.optional(z.catch(z.enum(CAUSES), 'calls')),
  openedAt: z.optional(z.string()),
  openUntil: z.optional(z.string()),
  pauseSeconds: z.optional(z.number()),
  probe: z.optional(z.string()),
  probeUntil: z.optional(z.string()),
  leftAt: z.optional(z.string()),
});
/** `counts` are how many calls and tasks ended lately, by the names of the counts. */
export type Circuit = z.infer<typeof StoredCircuit> & { counts: ReadonlyMap<string, number> };

/** A route that nothing is known of. */
export const CLOSED: Circuit = { counts: new Map() };

/** Whether requests go elsewhere. */
export const isLeftOut = ({ openedAt, leftAt }: Circuit): boolean =>
  openedAt !== undefined || leftAt !== undefined;

/** Whether one request may try a route that is left out because of failures; with an id, also the request that tries it already. */
export const mayProbe = (
  { openedAt, openUntil = '', probe, probeUntil = openUntil, leftAt }: Circuit,
  now: Date,
  requestId?: string,
): boolean => {
  if (openedAt === undefined || leftAt !== undefined) return false;
  return (probe !== undefined && probe === requestId) || toInstant(now) >= probeUntil;
};

/** Why a route is left out, in words for an operator. */
export const whyLeftOut = ({ cause, openedAt, leftAt }: Circuit): string =>
  leftAt === undefined ? `left out since ${openedAt}: ${cause}` : `left out by hand since ${leftAt}`;

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

/** Calls and tasks are counted apart: a failed task was a call that worked. */
const COUNTED = ['calls', 'tasks'] as const;
export type Counted = (typeof COUNTED)[number];
/** How it ended. */
export const ENDS = ['bad', 'good'] as const;
type End = (typeof ENDS)[number];

/** Failures count for so long, and so many open the circuit. */
const WINDOW_MINUTES = 5;
const FEWEST_BAD = 5;

/** The name of a count: one for each minute since 1970 in which anything was counted. */
const countName = (counted: Counted, end: End, minute: number | ''): string => `${counted}-${end}#${minute}`;
const minuteOf = (now: Date): number => Math.floor(now.getTime() / 60_000);
/** The name of the count that an end adds to. */
export const countAt = (counted: Counted, end: End, now: Date): string =>
  countName(counted, end, minuteOf(now));

/** The names of all counts that matter now. The clock that counted may be ahead. */
export const countsAt = (now: Date): string[] => {
  const minutes = Array.from({ length: WINDOW_MINUTES + 1 }, (_, ago) => minuteOf(now) + 1 - ago);
  return COUNTED.flatMap((counted) =>
    ENDS.flatMap((end) => minutes.map((minute) => countName(counted, end, minute))),
  );
};

const lately = ({ counts }: Circuit, counted: Counted, end: End, now: Date): number =>
  countsAt(now)
    .filter((name) => name.startsWith(countName(counted, end, '')))
    .reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);

/** Whether anything failed lately, so that what works is counted too. */
export const isWatched = (circuit: Circuit, now: Date): boolean =>
  lately(circuit, 'calls', 'bad', now) + lately(circuit, 'tasks', 'bad', now) > 0;

/** Whether so many failed lately that the route is left out. */
export const isFailing = (circuit: Circuit, counted: Counted, now: Date): boolean => {
  const failed = lately(circuit, counted, 'bad', now);
  return failed >= FEWEST_BAD && failed >= lately(circuit, counted, 'good', now);
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
