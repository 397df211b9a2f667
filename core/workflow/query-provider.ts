import { type Clock, systemClock } from '../clock.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { toInstant } from '../time.ts';
import { queryTasks } from './query-tasks.ts';
import { deadlineOf, type NextStep, stepAfterCalls, stepWhenFinished, waitTimeOf } from './workflow-rules.ts';
import { workflowSettings } from './workflow-settings.ts';

/** A task query only reads a status: a provider that takes longer counts as not answering. */
const QUERY_TIMEOUT_MS = 15_000;

/**
 * Queries every open task of a request and returns the next step. A query that fails changes nothing: the
 * next one tries again, until the deadline. Then open tasks count as timed out, and what others produced is
 * stored.
 */
export const queryProvider = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<NextStep> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return { next: 'stop' };
  const settings = workflowSettings();
  const { provider, attempts, firstCallAt } = await queryTasks(
    request,
    providerRouteOf,
    clock,
    QUERY_TIMEOUT_MS,
  );
  if (firstCallAt === undefined) throw new Error(`No provider was called for ${requestId}.`);
  const firstCall = { kind: request.kind, firstCallAt };
  const now = clock.now();
  if (toInstant(now) >= deadlineOf(firstCall, settings)) return stepWhenFinished(attempts);
  return stepAfterCalls(attempts, () =>
    waitTimeOf(firstCall, provider.callsBack(request.kind), settings, now),
  );
};
