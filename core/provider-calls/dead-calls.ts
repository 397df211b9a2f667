import { allEnded } from '../concurrency/in-parallel.ts';
import type { Failure } from '../errors.ts';
import { logger } from '../observability.ts';
import { type Clock, toInstant } from '../time.ts';
import { type ProviderAttempt, recordOutcome, suspectAttempt } from './provider-attempts.ts';

/** The process that makes a call is suspected to be dead after this long without marking the attempt alive. */
const SUSPECTED_AFTER_MS = 20_000;
/**
 * Time after the suspicion was written until an unmarked call counts as dead. The table accepts writes by then, and a living
 * process marks its attempt every 5 s.
 */
const DEAD_AFTER_MS = 10_000;

const OUTCOME_UNKNOWN: Failure = {
  code: 'provider_error',
  message: 'The outcome of the call to the upstream provider is not known.',
};

/**
 * Records a call as lost when its process has died, because the call must not be repeated. The first run only writes a suspicion;
 * a later run decides. Returns other attempts unchanged, without an outcome while their process may be alive. Rejects once every
 * attempt is handled.
 */
export const recordDeadCalls = (
  attempts: readonly ProviderAttempt[],
  clock: Clock,
): Promise<ProviderAttempt[]> => allEnded(attempts.map((attempt) => recordIfDead(attempt, clock)));

const recordIfDead = async (attempt: ProviderAttempt, clock: Clock): Promise<ProviderAttempt> => {
  const { outcome, aliveAt, suspectedAt } = attempt;
  if (outcome) return attempt;
  const now = clock.now();
  const isOver = (since: string, milliseconds: number) => now.getTime() - Date.parse(since) >= milliseconds;
  if (suspectedAt === undefined) {
    if (isOver(aliveAt, SUSPECTED_AFTER_MS)) await suspectAttempt(attempt, now);
    return attempt;
  }
  if (!isOver(suspectedAt, DEAD_AFTER_MS)) return attempt;
  const lost = { kind: 'lost', failure: OUTCOME_UNKNOWN } as const;
  const recorded = await recordOutcome(attempt, lost, now, { ifSuspected: true });
  if (recorded.finishedAt === toInstant(now)) {
    const { requestId, provider, call } = attempt;
    logger.error('provider call lost', { requestId, provider, call, reason: 'its process died' });
  }
  return recorded;
};
