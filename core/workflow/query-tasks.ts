import type { Clock } from '../clock.ts';
import { listAttempts, type ProviderAttempt, recordOutcome } from '../provider-calls/provider-attempts.ts';
import { noteQuery } from '../provider-calls/provider-waits.ts';
import type { Provider } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { hasOpenTask, latestAttempts, type ProviderRoute } from './workflow-rules.ts';

/** What a look at a request's tasks found. */
export interface TaskQueryResult {
  provider: Provider;
  /** The last try of every call, with what is known of it now. */
  attempts: ProviderAttempt[];
  /** Whether the provider answered for every task that was open. */
  answered: boolean;
}

/**
 * Asks the provider for every open task of a request and records what it says. An answer that cannot be had
 * changes nothing. Asking twice at once is harmless: the first final outcome stands.
 */
export const queryTasks = async (
  request: StoredRequest,
  providerRouteOf: (model: string) => Promise<ProviderRoute>,
  clock: Clock,
  timeoutMs: number,
): Promise<TaskQueryResult> => {
  const [{ provider }, all] = await Promise.all([
    providerRouteOf(request.model),
    listAttempts(request.requestId),
  ]);
  const latest = [...latestAttempts(all).values()];
  if (hasOpenTask(latest)) await noteQuery(request.requestId, clock.now());
  const looks = await Promise.all(latest.map((attempt) => lookAt(attempt, provider, clock, timeoutMs)));
  return {
    provider,
    attempts: looks.map(({ attempt }) => attempt),
    answered: looks.every(({ answered }) => answered),
  };
};

const lookAt = async (
  attempt: ProviderAttempt,
  provider: Provider,
  clock: Clock,
  timeoutMs: number,
): Promise<{ attempt: ProviderAttempt; answered: boolean }> => {
  if (attempt.outcome?.kind !== 'accepted') return { attempt, answered: true };
  const answer = await provider.query(attempt.outcome.taskId, AbortSignal.timeout(timeoutMs));
  switch (answer.kind) {
    case 'waiting':
    case 'accepted':
      return { attempt, answered: true };
    case 'busy':
      return { attempt, answered: false };
    default:
      return { attempt: await recordOutcome(attempt, answer, clock.now()), answered: true };
  }
};
