import { leaveRoutes, mayBeAtRoute } from '../admission/admission.ts';
import { startFirstAttempt } from '../executions/invoke-later.ts';
import { logger } from '../observability.ts';
import { latestAttempts } from '../provider-calls/attempt-rules.ts';
import {
  listAttempts,
  originOf,
  type ProviderAttempt,
  recordCancellation,
} from '../provider-calls/provider-attempts.ts';
import type { CancelAnswer, ProviderRouteOf } from '../provider-calls/providers.ts';
import { checkStatus, gotAll, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { closeWork, findRequest } from '../requests/requests.ts';
import { dueListOf } from '../table/keys.ts';
import { type Clock, systemClock } from '../time.ts';

/** Settles follow-up work of an ended request. Resolves to false until the work is done. */
export type Settle = (request: StoredRequest) => Promise<boolean>;

/** How the tasks of an ended request are settled. The default only reads the tasks, because only the reconciler may cancel tasks. */
export interface Settling {
  clock?: Clock;
  tasks?: Settle;
}

/**
 * Closes a terminal request: starts the first attempt of its webhook, then takes the request off the `CHECK` list; a succeeded
 * request is due again when its files expire. Repeated calls are harmless: an attempt is made once. Does nothing while the
 * request is unfinished or deleted.
 *
 * Returns false while permits, files or provider tasks are not settled: the request stays due for the reconciler. Throws
 * `UnknownStatusError`.
 */
export const closeRequest = async (
  requestId: string,
  files: Settle,
  { clock = systemClock, tasks = (request) => hasNoTasks(request, clock) }: Settling = {},
): Promise<boolean> => {
  const request = await findRequest(requestId);
  if (!request || !isTerminal(request)) return true;
  checkStatus(request);
  if (request.webhookUrl !== undefined) await startFirstAttempt(requestId);
  if (dueListOf(request.GSI1PK) !== 'CHECK') return true;
  // Permits are released after the end, so that no call is made without a permit.
  const hasLeft = !mayBeAtRoute(request, request.status) || (await leaveRoutes(request, clock));
  const settled = [hasLeft, await tasks(request), await files(request)];
  if (!settled.every((isSettled) => isSettled)) return false;
  await closeWork(request);
  return true;
};

const CANCEL_TIMEOUT_MS = 5_000;
/** A call under way at the end of its request has created the task within this time: a submission takes at most 60 s. */
const IN_FLIGHT_MS = 60_000;

/**
 * The attempts of an ended request whose tasks may still run at the provider and were not cancelled yet. Reads nothing for a
 * request with all outputs.
 */
export const abandonedTasks = async (request: StoredRequest): Promise<ProviderAttempt[]> =>
  (await openAttempts(request)).filter(({ outcome }) => outcome !== undefined);

/** As `abandonedTasks`, with the attempts whose creation call has no outcome yet. */
const openAttempts = async (request: StoredRequest): Promise<ProviderAttempt[]> => {
  if (gotAll(request)) return [];
  return openAmong(await listAttempts(request.requestId));
};

/** The latest attempts that have no outcome, or a task that was not cancelled yet. */
const openAmong = (attempts: readonly ProviderAttempt[]): ProviderAttempt[] =>
  latestAttempts(attempts).filter(
    ({ outcome, cancellation }) =>
      cancellation === undefined && (outcome === undefined || outcome.kind === 'accepted'),
  );

/** Whether an ended request has no task to cancel, and can get no further task. */
const hasNoTasks = async (request: StoredRequest, clock: Clock): Promise<boolean> => {
  const endedMs = Date.parse(request.finishedAt ?? request.createdAt);
  const mayAppear = clock.now().getTime() < endedMs + IN_FLIGHT_MS;
  return (await openAttempts(request)).every(({ outcome }) => outcome === undefined && !mayAppear);
};

/**
 * Cancels the tasks of an ended request, each at the provider account that created the task, to save the cost of useless work.
 * Call it only after the end: an unfinished request may still use the outputs. Returns as `hasNoTasks`. A failed cancellation is
 * logged and not repeated.
 */
export const cancelTasks = async (
  request: StoredRequest,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<boolean> => {
  for (const attempt of await abandonedTasks(request))
    await cancelAndRecord(request.model, attempt, providerRouteOf, clock);
  return hasNoTasks(request, clock);
};

/** Cancels the tasks of a deleted request, as long as the request's attempts are stored. */
export const cancelTasksOfDeleted = async (
  { requestId, model }: Pick<StoredRequest, 'requestId' | 'model'>,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  for (const attempt of openAmong(await listAttempts(requestId)))
    if (attempt.outcome) await cancelAndRecord(model, attempt, providerRouteOf, clock);
};

const cancelAndRecord = async (
  model: string,
  attempt: ProviderAttempt,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  const answer = await cancelTask(model, attempt, providerRouteOf);
  const { taskId, provider } = attempt;
  if (answer.kind === 'cancelled') logger.info('provider task cancelled', { provider, taskId });
  else logger.warn('provider task not cancelled', { provider, taskId, reason: answer.reason });
  await recordCancellation(attempt, answer, clock.now());
};

const cancelTask = async (
  model: string,
  attempt: ProviderAttempt,
  providerRouteOf: ProviderRouteOf,
): Promise<CancelAnswer> => {
  try {
    const { provider } = await providerRouteOf(model, originOf(attempt));
    return await provider.cancel(attempt.taskId ?? '', AbortSignal.timeout(CANCEL_TIMEOUT_MS));
  } catch (error) {
    // The provider has no route or key any more.
    return { kind: 'not-cancelled', reason: (error as Error).name };
  }
};
