import { addSeconds, type Instant } from '../time.ts';
import type { ProviderAttempt } from './provider-attempts.ts';
import type { ProviderOutput, Taken } from './providers.ts';

/** The start of a request's first provider call, by its attempts; undefined before the first call. */
export const firstCallAt = (attempts: readonly ProviderAttempt[]): Instant | undefined =>
  attempts.map(({ startedAt }) => startedAt).sort()[0];

/**
 * The latest attempt of each call under the request's last assignment with a call. `attempts` are in plan order, each call's in the order
 * they were made; so is the result. Calls of earlier assignments were surely not taken.
 */
export const latestAttempts = (attempts: readonly ProviderAttempt[]): ProviderAttempt[] => {
  const last = Math.max(...attempts.map(({ assignment }) => assignment));
  const current = attempts.filter(({ assignment }) => assignment === last);
  return [...new Map(current.map((attempt) => [attempt.call, attempt])).values()];
};

/** Every output that has a URL, in plan order. The position in this list is the output's index. */
export const producedOutputs = (attempts: Iterable<ProviderAttempt>): { url: string }[] =>
  [...attempts].flatMap(({ outcome }) => (outcome?.kind === 'done' ? outcome.outputs.filter(hasUrl) : []));

const hasUrl = (output: ProviderOutput): output is { url: string } => 'url' in output;

/** Whether any call is being made, or was accepted as a task that is not known to have finished. */
export const hasOpenTask = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.some(
    ({ outcome }) => outcome === undefined || outcome.kind === 'accepted' || outcome.kind === 'unreadable',
  );

/** Whether the provider has accepted or finished any call. */
export const isAccepted = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.some(({ taskId, outcome }) => taskId !== undefined || outcome?.kind === 'done');

export const isBusyAttempt = ({ outcome }: ProviderAttempt): boolean => outcome?.kind === 'busy';

/** The longest that a provider's own `Retry-After` is believed at a time. */
export const MOST_RETRY_AFTER_SECONDS = 60;

/** The earliest repetition of a call that met a busy provider: after its `Retry-After`, 60 s at most, else at once. */
export const repeatableAt = ({ finishedAt, startedAt, outcome }: ProviderAttempt): Instant => {
  const wanted = outcome?.kind === 'busy' ? (outcome.retryAfterSeconds ?? 0) : 0;
  return addSeconds(finishedAt ?? startedAt, Math.min(wanted, MOST_RETRY_AFTER_SECONDS));
};

/** Whether a provider that was reached was too busy for the call of an attempt. */
export const isThrottled = ({ outcome }: ProviderAttempt): boolean =>
  outcome?.kind === 'busy' && outcome.obstacle !== 'unreached';

/**
 * Whether the provider accepted the call of an attempt; the only place that decides. A call that was surely not accepted may be
 * repeated at another route, and cost nothing upstream.
 */
export const takenOf = ({ taskId, outcome }: Pick<ProviderAttempt, 'taskId' | 'outcome'>): Taken => {
  if (taskId !== undefined) return 'yes';
  switch (outcome?.kind) {
    case 'done':
    case 'accepted':
      return 'yes';
    case 'busy':
      return 'no';
    case 'failed':
      return outcome.taken ?? 'unknown';
    default:
      return 'unknown';
  }
};

/**
 * Whether a call may be repeated at another route: the provider surely did not accept the attempt, and the reason is not the
 * request's own, such as a content decision.
 */
export const isMovable = (attempt: ProviderAttempt): boolean => {
  const { outcome } = attempt;
  if (outcome?.kind === 'failed') return takenOf(attempt) === 'no' && outcome.obstacle !== undefined;
  return isBusyAttempt(attempt);
};
