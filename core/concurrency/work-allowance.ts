import * as z from 'zod/mini';
import { requiredNumberEnv } from '../environment.ts';

/** Work for creations that costs the operator also when the creation is refused: clips are fetched, prompts are judged. */
export type CreationWork = 'clips' | 'filter';

/**
 * The extra allowance that accepted creations earned in an hour. Each creation adds 1 per kind of work, and 1 more per kind that
 * it used. `hour` counts from 1970.
 */
export const EarnedWork = z.object({ hour: z.number(), clips: z.number(), filter: z.number() });
export type EarnedWork = z.infer<typeof EarnedWork>;

const MS_PER_HOUR = 3_600_000;

/** The hour of an instant, counted from 1970. */
export const hourOf = (now: Date): number => Math.floor(now.getTime() / MS_PER_HOUR);

/** Whole seconds until the next hour, at least 1. */
export const secondsToNextHour = (now: Date): number =>
  Math.max(1, Math.ceil(((hourOf(now) + 1) * MS_PER_HOUR - now.getTime()) / 1_000));

/** An account's allowance of one kind of work, as read for a creation, or before: an older one allows less. */
export interface WorkAllowance {
  /** The hour in which an accepted creation last raised it. */
  earnedHour: number | undefined;
  /** The number of uses in an hour. */
  most: (hour: number) => number;
  /** Whether work that ended with this error cost nothing and returns the allowance. */
  isFree: (error: unknown) => boolean;
  /** The message to the caller when it is used up. */
  usedUp: string;
}

/**
 * The allowance of an account. Refused creations can use the work at most `REFUSED_WORK_PER_HOUR` times an hour, and once more
 * for each creation accepted in the hour. An accepted creation earns its own use back.
 */
export const workAllowance = (
  earned: EarnedWork | undefined,
  kind: CreationWork,
  isFree: WorkAllowance['isFree'],
): WorkAllowance => ({
  earnedHour: earned?.hour,
  most: (hour) => requiredNumberEnv('REFUSED_WORK_PER_HOUR') + (earned?.hour === hour ? earned[kind] : 0),
  isFree,
  usedUp: 'Too many creations were refused in this hour.',
});

/** The earned work after another accepted creation, which used these kinds of work. */
export const earnedWith = (
  earned: EarnedWork | undefined,
  done: readonly CreationWork[],
  now: Date,
): EarnedWork => {
  const hour = hourOf(now);
  const earnedBefore = (kind: CreationWork): number => (earned?.hour === hour ? earned[kind] : 0);
  const earnedNow = (kind: CreationWork): number => earnedBefore(kind) + (done.includes(kind) ? 2 : 1);
  return { hour, clips: earnedNow('clips'), filter: earnedNow('filter') };
};
