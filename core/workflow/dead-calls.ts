import type { Clock } from '../clock.ts';
import type { Failure } from '../errors.ts';
import { type ProviderAttempt, recordOutcome } from '../provider-calls/provider-attempts.ts';

/** The process that makes a call counts as dead after this long without marking the attempt alive. */
const DEAD_AFTER_MS = 20_000;

const OUTCOME_UNKNOWN: Failure = {
  code: 'provider_error',
  message: 'The outcome of the call to the upstream provider is not known.',
};

/**
 * Records a call as lost when the process that makes it has died, because it must not be repeated. Returns any
 * other attempt as it is, without an outcome while its process is alive.
 */
export const recordIfDead = async (attempt: ProviderAttempt, clock: Clock): Promise<ProviderAttempt> => {
  if (attempt.outcome) return attempt;
  const now = clock.now();
  if (now.getTime() - Date.parse(attempt.aliveAt) < DEAD_AFTER_MS) return attempt;
  return recordOutcome(attempt, { kind: 'lost', failure: OUTCOME_UNKNOWN }, now);
};
