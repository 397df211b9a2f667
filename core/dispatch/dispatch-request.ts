import { leaveQueue, leaveRoutes, postponeRoute, releasePermit } from '../admission/admission.ts';
import { requiredNumberEnv, workflowSettings } from '../environment.ts';
import { deadlineOf, type NextStep, stepAfterCalls, stepWhenEnded } from '../executions/step-rules.ts';
import {
  firstCallAt,
  hasOpenTask,
  isAccepted,
  isBusyAttempt,
  isMovable,
  latestAttempts,
} from '../provider-calls/attempt-rules.ts';
import { recordDeadCalls } from '../provider-calls/dead-calls.ts';
import { routesOf } from '../provider-calls/model-routes.ts';
import { findRequestAndAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { checkStatus, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { markProcessing } from '../requests/requests.ts';
import { reportCalls } from '../route-pauses/report-results.ts';
import { dueListOf } from '../table/keys.ts';
import { addSeconds, type Clock, type Instant, systemClock, toInstant } from '../time.ts';
import { findDestination, NONE_PASSED_OVER } from './assign-route.ts';
import { leavesAt, queueEndOf, retryAt, stepWhileBusy, stepWhileFull } from './dispatch-rules.ts';
import { type AtRoute, enterRoute } from './enter-route.ts';
import { claimCalls, makeCalls, ProviderCallInFlightError } from './make-calls.ts';

/** The time of a function whose limit is not known, and what is left to return and log at its end. */
const DEFAULT_TIME_LEFT_MS = 30_000;
const RESERVED_MS = 5_000;

/**
 * Makes the provider calls of a request. Each planned call is made once, however often the dispatch is repeated.
 *
 * 1. Load the request and its attempts. Stop if the request is terminal. After the deadline, leave the queue and make no call:
 *    only a task may still be open.
 * 2. Assign the request a route, unless it stays at its route.
 * 3. Take a permit of a limited route. Without a free permit, the request joins the route's queue.
 * 4. Claim every planned call without an outcome, all or none. The claim is refused, and nothing called, when the request has
 *    ended since step 1 or has another route. From now on, a request that waited is due soon again, and a request at a
 *    synchronous provider is processing.
 * 5. Make the calls, and record each outcome. A claim of a dead process without an outcome counts as lost, and its call is not
 *    repeated.
 * 6. Release the permit unless a task is open, and return the next step: another dispatch while the provider is too busy for a
 *    call, or when the request leaves the route.
 *
 * `timeLeftMs` is the function's remaining time. A provider's answers are recorded within this time, through transient errors of
 * the table, because an unrecorded answer is lost.
 *
 * Throws `ProviderCallInFlightError` while another run is making a call, and `UnknownStatusError`.
 */
export const dispatchRequest = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
  timeLeftMs = DEFAULT_TIME_LEFT_MS,
): Promise<NextStep> => {
  const endMs = clock.now().getTime() + timeLeftMs - RESERVED_MS;
  const { request, attempts } = await findRequestAndAttempts(requestId);
  if (!request) return { next: 'stop' };
  if (isTerminal(request)) return stopped(request, clock);
  checkStatus(request);
  const all = await withDeadCalls(requestId, attempts, clock);
  const now = clock.now();
  const dispatchedAt = firstCallAt(all);
  const deadline = deadlineOf(
    { kind: request.kind, firstCallAt: dispatchedAt ?? toInstant(now) },
    workflowSettings(),
  );
  if (toInstant(now) >= deadline) return afterDeadline(request, latestAttempts(all), deadline, clock);

  const entry = await enterRoute({ request, all, deadline, providerRouteOf, clock });
  if (entry.kind === 'step') return entry.step;
  if (entry.kind === 'queue') {
    const end = queueEndOf(request, dispatchedAt, workflowSettings());
    return stepWhileFull(entry.position, { end, isDispatched: dispatchedAt !== undefined }, clock.now());
  }
  const made = await callProvider(request, entry, { deadline, clock, endMs, all });
  return made ? afterCalls(request, entry, made, { deadline, clock }) : stopped(request, clock);
};

/** The attempts of a request, with the outcomes of those whose process died. Throws `ProviderCallInFlightError` while one is being made. */
const withDeadCalls = async (
  requestId: string,
  attempts: readonly ProviderAttempt[],
  clock: Clock,
): Promise<ProviderAttempt[]> => {
  const latest = await recordDeadCalls(latestAttempts(attempts), clock);
  // All calls are claimed together. If one before another is missing, it was claimed during the read.
  if (latest.some(({ call, outcome }, index) => outcome === undefined || call !== index))
    throw new ProviderCallInFlightError(`A call of ${requestId} is being made.`);
  const isSame = (one: ProviderAttempt, other: ProviderAttempt): boolean =>
    one.call === other.call && one.attempt === other.attempt;
  return attempts.map((attempt) => latest.find((one) => isSame(one, attempt)) ?? attempt);
};

/** The step of a request past its deadline or its queue deadline. */
const afterDeadline = async (
  request: StoredRequest,
  latest: readonly ProviderAttempt[],
  deadline: Instant,
  clock: Clock,
): Promise<NextStep> => {
  await leaveQueue(request);
  if (isAccepted(latest)) await markProcessing(request);
  return stepAfterCalls(latest, deadline, clock.now());
};

/** The step of a run whose request has ended. A permit that the request got meanwhile is released. */
const stopped = async (request: StoredRequest, clock: Clock): Promise<NextStep> => {
  await leaveRoutes(request, clock);
  const ended = isTerminal(request) ? request : (await findRequestAndAttempts(request.requestId)).request;
  return stepWhenEnded(ended);
};

/** The end of a run's time, and its clock. */
interface RunTime {
  deadline: Instant;
  clock: Clock;
}

/** Claims and makes the calls that are due, and records their ends. Undefined, with nothing called, when the request has ended. */
const callProvider = async (
  request: StoredRequest,
  { provider: { provider, upstreamModel }, plan, assignment, due, pace, passedOver }: AtRoute,
  { deadline, clock, endMs, all }: RunTime & { endMs: number; all: readonly ProviderAttempt[] },
): Promise<ProviderAttempt[] | undefined> => {
  const run = {
    ...{ requestId: request.requestId, calls: plan.calls, mode: plan.mode },
    ...{ provider, deadline, clock, endMs, pace },
    isRepeated: all.some((one) => one.provider === provider.id && one.upstreamModel === upstreamModel),
    claim: {
      origin: { provider: provider.id, upstreamModel, baseUrl: provider.baseUrl },
      assignment: assignment.number,
      checkAt: checkAfterQueue(request, clock),
      beginsProcessing: plan.mode === 'synchronous',
      passedOver,
    },
  };
  const claimed = await claimCalls(run, due);
  if (!claimed) return undefined;
  const made = await makeCalls(claimed, run);
  await reportCalls(request, made, clock);
  return made;
};

/** Releases the permit unless a task is open, and returns the next step. */
const afterCalls = async (
  request: StoredRequest,
  { provider: { provider }, plan, current, held, assignment }: AtRoute,
  made: readonly ProviderAttempt[],
  { deadline, clock }: RunTime,
): Promise<NextStep> => {
  const attempts = latestAttempts([...current, ...made]);
  if (plan.mode === 'asynchronous' && isAccepted(attempts)) {
    const firstCheckAt = provider.callsBack(request.kind)
      ? silentUntil(clock)
      : addSeconds(toInstant(clock.now()), workflowSettings().pollIntervalSeconds);
    await markProcessing(request, firstCheckAt);
  }
  const step = await stepFrom(assignment.route, request, [...current, ...made], { deadline, clock });
  if (hasOpenTask(attempts)) return step;
  // After a refusal, a route that is the only one pauses as the request does.
  const isOnly = routesOf(request.model).length < 2;
  if (held && isOnly && step.next === 'retry') await postponeRoute(held.limit, step.waitSeconds, clock);
  await releasePermit(request, assignment.route, clock, held?.permit.takenMs);
  return step;
};

/** The step after calls at a route; `current` are the attempts of the assignment, with all that were made now. */
const stepFrom = async (
  route: string,
  request: StoredRequest,
  current: readonly ProviderAttempt[],
  { deadline, clock }: RunTime,
): Promise<NextStep> => {
  const now = clock.now();
  const attempts = latestAttempts(current);
  const isSeveral = routesOf(request.model).length > 1;
  if (isSeveral && attempts.some(isMovable)) {
    const destination = await findDestination(request, current, NONE_PASSED_OVER, now);
    const { choice } = destination ?? {};
    const isReassigned = choice?.kind === 'go' && choice.route !== route;
    // A refused request queues for a route that is paused and may be used again.
    const isToQueue = choice?.kind === 'wait' && choice.mayMove && !attempts.some(isBusyAttempt);
    // The next run assigns, as every run does before its calls. Between two runs is a second, the shortest wait of the state machine.
    if (isReassigned || isToQueue) return retryAt(now, now, now);
  }
  const busy = attempts.filter(isBusyAttempt);
  if (busy.length === 0) return stepAfterCalls(attempts, deadline, now);
  const leaves = leavesAt(current);
  const isFirst = isSeveral && leaves > now && leaves.toISOString() < deadline;
  return stepWhileBusy(busy, isFirst ? leaves : new Date(deadline), now, Math.random());
};

/** The instant of the first query to a provider that has not called back. */
const silentUntil = (clock: Clock): Instant =>
  addSeconds(toInstant(clock.now()), requiredNumberEnv('CALLBACK_WAIT_SECONDS'));

/** The next due time of a request that was due at the end of its wait for capacity; undefined for other requests. */
const checkAfterQueue = ({ GSI1PK, GSI1SK = '' }: StoredRequest, clock: Clock): Instant | undefined => {
  const soon = silentUntil(clock);
  return dueListOf(GSI1PK) === 'CHECK' && GSI1SK > soon ? soon : undefined;
};
