import { workflowSettings } from '../environment.ts';
import { UNEXPECTED_ERROR } from '../errors.ts';
import {
  deadlineOf,
  type NextStep,
  stepAfterCalls,
  stepWhenEnded,
  stepWhenFinished,
} from '../executions/step-rules.ts';
import { firstCallAt, isAccepted, latestAttempts } from '../provider-calls/attempt-rules.ts';
import { recordDeadCalls } from '../provider-calls/dead-calls.ts';
import { findRequestAndAttempts } from '../provider-calls/provider-attempts.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { checkStatus, isTerminal } from '../requests/request-rules.ts';
import { markProcessing } from '../requests/requests.ts';
import { type Clock, systemClock, toInstant } from '../time.ts';
import { queryTasks } from './query-tasks.ts';

/** A task query only reads a status: a provider that takes longer counts as not answering. */
const QUERY_TIMEOUT_MS = 15_000;

/**
 * Queries every open task of a request and returns the next step. A failed query changes nothing until the deadline. At the
 * deadline, open tasks count as timed out, and the outputs of finished tasks are stored.
 *
 * Also runs after a failed dispatch: accepted calls are kept, and a call of a dead process counts as lost. A request without a
 * call fails. Throws `UnknownStatusError`.
 */
export const queryProvider = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<NextStep> => {
  const { request, attempts: all } = await findRequestAndAttempts(requestId);
  if (!request || isTerminal(request)) return stepWhenEnded(request);
  checkStatus(request);
  const firstCall = firstCallAt(all);
  if (firstCall === undefined) return { next: 'fail', error: UNEXPECTED_ERROR };
  const deadline = deadlineOf({ kind: request.kind, firstCallAt: firstCall }, workflowSettings());
  const isOver = (): boolean => toInstant(clock.now()) >= deadline;
  const query = { request, providerRouteOf, clock, timeoutMs: QUERY_TIMEOUT_MS };
  const queried = await queryTasks(latestAttempts(all), query, { isLast: isOver() });
  const attempts = await recordDeadCalls(queried.attempts, clock);
  if (request.status === 'queued' && isAccepted(attempts)) await markProcessing(request);
  return isOver() ? stepWhenFinished(attempts) : stepAfterCalls(attempts, deadline, clock.now());
};
