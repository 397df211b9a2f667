import { type Clock, systemClock } from '../clock.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { toInstant } from '../time.ts';
import { queryTasks } from './query-tasks.ts';
import {
  DEADLINE_FAILURE,
  deadlineOf,
  type NextStep,
  type ProviderRoute,
  stepAfterCalls,
  waitTimeOf,
} from './workflow-rules.ts';

/** A task query is a small look-up: an answer that takes longer than this counts as none. */
const QUERY_TIMEOUT_MS = 15_000;

/**
 * Asks the provider for every open task of a request and says what follows. An answer that cannot be had
 * changes nothing: the next look asks again, until the deadline fails the request.
 */
export const queryProvider = async (
  requestId: string,
  providerRouteOf: (model: string) => Promise<ProviderRoute>,
  clock: Clock = systemClock,
): Promise<NextStep> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return { next: 'stop' };
  const { provider, attempts } = await queryTasks(request, providerRouteOf, clock, QUERY_TIMEOUT_MS);
  const step = stepAfterCalls(attempts, () =>
    waitTimeOf(request, provider.callsBack(request.kind), clock.now()),
  );
  const late = toInstant(clock.now()) >= deadlineOf(request);
  return step.next === 'wait' && late ? { next: 'fail', error: DEADLINE_FAILURE } : step;
};
