import { QUEUE_FAILURE, queueEndOf } from '../dispatch/dispatch-rules.ts';
import { endRequest } from '../ending/end-request.ts';
import { givenUp } from '../ending/failed.ts';
import { workflowSettings } from '../environment.ts';
import { stepWhenFinished } from '../executions/step-rules.ts';
import { logger } from '../observability.ts';
import { firstCallAt, latestAttempts, producedOutputs } from '../provider-calls/attempt-rules.ts';
import { recordDeadCalls } from '../provider-calls/dead-calls.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { addSeconds, type Clock, type Instant } from '../time.ts';
import { queryAttempts } from '../waiting/query-tasks.ts';

/** The time that an execution has to end its request at the deadline. */
const GRACE_SECONDS = 30;

/**
 * The instant at which the control loop ends an unfinished request: shortly after its deadline or queue deadline, whatever became
 * of the execution's timers. Undefined once something was produced: storing that has a time of its own. `all` are all attempts of
 * the request.
 */
export const overdueAt = (request: StoredRequest, all: readonly ProviderAttempt[]): Instant | undefined => {
  const isProduced =
    request.outputs || request.storedSoFar || producedOutputs(latestAttempts(all)).length > 0;
  if (isProduced) return undefined;
  return addSeconds(queueEndOf(request, firstCallAt(all), workflowSettings()), GRACE_SECONDS);
};

const QUERY_TIMEOUT_MS = 10_000;

/**
 * Ends a request that is overdue, after a last query of its open tasks. False when it was not ended: a call is still being made, or its tasks
 * have produced something by now.
 */
export const endOverdue = async (
  request: StoredRequest,
  all: readonly ProviderAttempt[],
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<boolean> => {
  const latest = await recordDeadCalls(latestAttempts(all), clock);
  if (latest.some(({ outcome }) => outcome === undefined)) return false;
  const query = { request, providerRouteOf, clock, timeoutMs: QUERY_TIMEOUT_MS };
  const { attempts } = await queryAttempts(latest, query);
  if (producedOutputs(attempts).length > 0) return false;
  const step = attempts.length === 0 ? undefined : stepWhenFinished(attempts);
  const { requestId } = request;
  logger.warn('a request past its deadline is ended by the control loop', { requestId });
  await endRequest(requestId, givenUp(step?.next === 'fail' ? step.error : QUEUE_FAILURE), { clock });
  return true;
};
