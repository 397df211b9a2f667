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

/** Settles work of an ended request. Resolves to false until it is done. */
type Settle = (request: StoredRequest) => Promise<boolean>;

/** How the tasks of an ended request are settled. By default tasks are only read: only the reconciler cancels tasks. */
export interface Settling {
  clock?: Clock;
  tasks?: Settle;
}

/**
 * Has the first attempt of a terminal request's webhook made, then takes the request off the list of work left; if it succeeded, it
 * is then due when its files expire. Repeated calls are harmless: an attempt is made once. Does nothing while the request is unfinished or
 * deleted.
 *
 * While its permits, its files or its provider's tasks are not settled, the request stays due for the reconciler, and this returns false.
 * Throws `UnknownStatusError`.
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
  // After the end, so that nothing is called without a permit.
  const hasLeft = !mayBeAtRoute(request, request.status) || (await leaveRoutes(request, clock));
  const settled = [hasLeft, await tasks(request), await files(request)];
  if (!settled.every((isSettled) => isSettled)) return false;
  await closeWork(request);
  return true;
};

const CANCEL_TIMEOUT_MS = 5_000;
/** A call that is being made when its request ends has its task by then: submitting one takes 60 s at most. */
const IN_FLIGHT_MS = 60_000;

/**
 * The attempts of an ended request with tasks that may still run at the provider and were not cancelled yet.
 * Reads nothing for a request that got all its outputs.
 */
export const abandonedTasks = async (request: StoredRequest): Promise<ProviderAttempt[]> =>
  (await openAttempts(request)).filter(({ outcome }) => outcome !== undefined);

/** As `abandonedTasks`, and those whose creation call has no outcome yet. */
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

/** Whether no task of a request that has ended is left to be cancelled, and none can appear. */
const hasNoTasks = async (request: StoredRequest, clock: Clock): Promise<boolean> => {
  const endedMs = Date.parse(request.finishedAt ?? request.createdAt);
  const mayAppear = clock.now().getTime() < endedMs + IN_FLIGHT_MS;
  return (await openAttempts(request)).every(({ outcome }) => outcome === undefined && !mayAppear);
};

/**
 * Cancels the tasks of an ended request, each where it was created, so that useless work costs nothing more.
 * Not before the end: until then the request may still get their outputs. Returns as `hasNoTasks`. If a task
 * cannot be cancelled, logs that and does not try again.
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

/** Cancels the tasks of a deleted request of this model, as long as its attempts are there. */
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
    // Its provider has no route or key any more.
    return { kind: 'not-cancelled', reason: (error as Error).name };
  }
};
