import type { WorkflowSettings } from '../executions/deadline-rules.ts';
import type { Instant } from '../time.ts';

/** Longest pause between two queries of a task. */
const MAX_LOOK_SECONDS = 15;

/** A pause is this share of the task's age, so that a result is at most 5 % late once a task is older than 40 s. */
const LOOK_SHARE = 1 / 20;

/**
 * When to query an unfinished task next, in epoch milliseconds: after a twentieth of its age, at least `pollIntervalSeconds` and at most
 * 15 s, and not before the provider's `Retry-After`.
 */
export const nextQueryMs = (
  firstCallAt: Instant,
  notBefore: Instant | undefined,
  { pollIntervalSeconds }: Pick<WorkflowSettings, 'pollIntervalSeconds'>,
  now: Date,
): number => {
  const ageSeconds = (now.getTime() - Date.parse(firstCallAt)) / 1000;
  const pauseSeconds = Math.max(pollIntervalSeconds, Math.min(MAX_LOOK_SECONDS, ageSeconds * LOOK_SHARE));
  const heldOffMs = notBefore === undefined ? 0 : Date.parse(notBefore);
  return Math.max(now.getTime() + pauseSeconds * 1000, heldOffMs);
};
