import type { RequestKind } from '../ids.ts';
import { firstCallAt } from '../provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant } from '../time.ts';

/** The deployment's settings that the rules need. */
export interface WorkflowSettings {
  /** Seconds from the first call to a provider until an unfinished request fails. */
  deadlineSeconds: Record<RequestKind, number>;
  /** Seconds from its creation until a request that was never dispatched fails. */
  queueDeadlineSeconds: number;
  /** Shortest pause between two queries of a task, in seconds. */
  pollIntervalSeconds: number;
}

/** The kind of a request's outputs, and when its first provider call began. */
export interface FirstCall {
  kind: RequestKind;
  firstCallAt: Instant;
}

/** When a request fails if it is still unfinished. */
export const deadlineOf = (
  { kind, firstCallAt: from }: FirstCall,
  { deadlineSeconds }: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => addSeconds(from, deadlineSeconds[kind]);

/** Outputs have at least this long to be stored, however near the deadline they were produced. */
const MIN_STORING_SECONDS = 900;

/** Until when storing outputs is retried: the request's deadline, or 15 min after the last call finished. */
export const storingEndOf = (
  kind: RequestKind,
  attempts: readonly ProviderAttempt[],
  settings: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => {
  const ends = attempts.map(({ startedAt, finishedAt = startedAt }) =>
    addSeconds(finishedAt, MIN_STORING_SECONDS),
  );
  const from = firstCallAt(attempts);
  if (from !== undefined) ends.push(deadlineOf({ kind, firstCallAt: from }, settings));
  return ends.sort().at(-1) ?? '';
};
