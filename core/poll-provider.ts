import { type Clock, systemClock } from './clock.ts';
import { requiredNumberEnv } from './environment.ts';
import { listAttempts, type ProviderAttempt, recordOutcome } from './provider-attempts.ts';
import type { Provider } from './providers.ts';
import { findRequest, isTerminal } from './requests.ts';
import { toInstant } from './time.ts';
import {
  DEADLINE_FAILURE,
  deadlineOf,
  latestAttempts,
  type NextStep,
  pollWaitSeconds,
  stepAfterCalls,
  type Upstream,
} from './workflow.ts';

/** A task query is a small look-up: an answer that takes longer than this counts as none. */
const QUERY_TIMEOUT_MS = 15_000;

/**
 * Asks the provider for every open task of a request and records what it says. An answer that cannot be had
 * changes nothing: the next look asks again, until the deadline fails the request.
 */
export const pollProvider = async (
  requestId: string,
  upstreamOf: (model: string) => Promise<Upstream>,
  clock: Clock = systemClock,
): Promise<NextStep> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return { next: 'stop' };
  const { provider } = await upstreamOf(request.model);
  const latest = [...latestAttempts(await listAttempts(requestId)).values()];
  const attempts = await Promise.all(latest.map((attempt) => lookAt(attempt, provider, clock)));

  const deadline = deadlineOf(request, requiredNumberEnv('IMAGE_DEADLINE_SECONDS'));
  const step = stepAfterCalls(attempts, () =>
    pollWaitSeconds(request.createdAt, clock.now(), requiredNumberEnv('POLL_INTERVAL_SECONDS'), deadline),
  );
  const late = toInstant(clock.now()) >= deadline;
  return step.next === 'wait' && late ? { next: 'fail', error: DEADLINE_FAILURE } : step;
};

const lookAt = async (
  attempt: ProviderAttempt,
  provider: Provider,
  clock: Clock,
): Promise<ProviderAttempt> => {
  if (attempt.outcome?.kind !== 'accepted') return attempt;
  const answer = await provider.query(attempt.outcome.taskId, AbortSignal.timeout(QUERY_TIMEOUT_MS));
  const open = answer.kind === 'waiting' || answer.kind === 'busy' || answer.kind === 'accepted';
  return open ? attempt : recordOutcome(attempt, answer, clock.now());
};
