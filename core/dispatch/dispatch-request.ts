import { giveBack, leaveQueue, leaveRoute } from '../admission/admission.ts';
import { reportCalls } from '../circuits/route-signs.ts';
import { workflowSettings } from '../environment.ts';
import { deadlineOf, type NextStep, stepAfterCalls } from '../executions/step-rules.ts';
import {
  attemptsHere,
  firstCallAt,
  hasOpenTask,
  isAccepted,
  isBusyAttempt,
  latestAttempts,
} from '../provider-calls/attempt-rules.ts';
import { recordIfDead } from '../provider-calls/dead-calls.ts';
import { findRequestAndAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-names.ts';
import { checkStatus, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { markProcessing } from '../requests/requests.ts';
import { addSeconds, type Clock, systemClock, toInstant } from '../time.ts';
import { beginRun, silentUntil } from './begin-run.ts';
import { chooseRoute } from './choose-route.ts';
import { stepWhileBusy, stepWhileFull, whyLeaving } from './dispatch-rules.ts';
import { claimCalls, makeCalls, ProviderCallInFlightError } from './make-calls.ts';

/** The time of a function whose limit is not known, and what is left to return and log at its end. */
const DEFAULT_TIME_LEFT_MS = 30_000;
const RESERVED_MS = 5_000;

/**
 * Makes the provider calls of a request: each planned call once, however often this runs.
 *
 * 1. Load the request and its attempts. Stop if it is terminal. After its deadline, make no call: leave the queue, where
 *    its time may have run out, and store the outputs so far; only a task may still be open.
 * 2. Choose the route, and ask for a pass of it, if it is limited. Without one, the request waits in the queue.
 * 3. Claim and make every planned call that has no outcome. From here on, a request that waited is due soon
 *    again, and a request to a synchronous provider is processing. The claim is refused, and nothing called,
 *    when the request has ended since step 1. A claim of a dead process without an outcome counts as lost,
 *    and its call is not repeated. A busy call is repeated while another one is under way.
 * 4. Give the pass back unless a task is open. While no call was taken, and another route may take them, begin again there. Else
 *    return the next step: while the provider is too busy for a call, to run this again.
 *
 * `timeLeftMs` is how long the function may still run. Answers of a provider are recorded by then, through
 * transient errors of the table, because an answer that is not recorded is lost.
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
  for (let moves = 0; moves < MAX_MOVES; moves++) {
    const step = await dispatchOnce(requestId, providerRouteOf, clock, endMs);
    if (step !== 'elsewhere') return step;
  }
  return { next: 'retry', waitSeconds: 1 };
};

/** Most routes that one run of this step leaves. */
const MAX_MOVES = 4;

const dispatchOnce = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  endMs: number,
): Promise<NextStep | 'elsewhere'> => {
  const { request, attempts: all } = await findRequestAndAttempts(requestId);
  if (!request) return { next: 'stop' };
  if (isTerminal(request)) return stopped(request, clock);
  checkStatus(request);
  const settings = workflowSettings();
  const stored = await Promise.all(latestAttempts(all).map((one) => recordIfDead(one, clock)));
  // All calls are claimed together. If one before another is missing, it was claimed during the read.
  if (stored.some(({ call, outcome }, index) => outcome === undefined || call !== index))
    throw new ProviderCallInFlightError(`A call of ${requestId} is being made.`);
  const now = clock.now();
  const firstCall = { kind: request.kind, firstCallAt: firstCallAt(all) ?? toInstant(now) };
  const deadline = deadlineOf(firstCall, settings);
  if (toInstant(now) >= deadline) {
    await leaveQueue(request);
    if (isAccepted(stored)) await markProcessing(request);
    return stepAfterCalls(stored, deadline, now);
  }

  const begun = await beginRun(request, { all, stored, deadline, providerRouteOf, clock, endMs });
  if (!('run' in begun)) return stepWhileFull(request, firstCallAt(all), begun, settings, clock.now());
  const { run, pass, here } = begun;
  const { role, cause } = begun.choice;
  const told = { route: routeNameOf(run.origin), role, cause };
  const claimed = await claimCalls(run, begun.due);
  if (!claimed) {
    await reportCalls(requestId, { ...told, made: [], waitedInVain: false }, clock);
    return stopped(request, clock);
  }
  const made = await makeCalls(claimed, run);
  const attempts = latestAttempts([...here, ...made]);
  if (run.mode === 'asynchronous' && isAccepted(attempts)) {
    const firstCheckAt = run.provider.callsBack(request.kind)
      ? silentUntil(clock)
      : addSeconds(toInstant(clock.now()), settings.pollIntervalSeconds);
    await markProcessing(request, firstCheckAt);
  }

  const goesElsewhere = await leavesRoute(request, [...all, ...made], begun.except, clock.now());
  const waitedInVain = goesElsewhere && attempts.some(isThrottled);
  await reportCalls(requestId, { ...told, made, waitedInVain }, clock);
  const busy = attempts.filter(isBusyAttempt);
  const step =
    busy.length > 0
      ? stepWhileBusy(busy, deadline, clock.now(), Math.random())
      : stepAfterCalls(attempts, deadline, clock.now());
  // After a refusal, the route pauses as the request does.
  if (pass && !hasOpenTask(attempts))
    await giveBack(request, pass, clock, step.next === 'retry' ? step.waitSeconds : 0);
  return goesElsewhere ? 'elsewhere' : step;
};

/** The end of a run that finds its request ended: it may have got a pass since. */
const stopped = async (request: StoredRequest, clock: Clock): Promise<NextStep> => {
  await leaveRoute(request, clock);
  return { next: 'stop' };
};

/** Whether a request leaves the route of its latest calls now, because there is another one that it can go to, or be tried at. */
const leavesRoute = async (
  request: StoredRequest,
  all: readonly ProviderAttempt[],
  except: ReadonlyMap<string, string>,
  now: Date,
): Promise<boolean> => {
  const here = attemptsHere(all);
  const [first] = here;
  if (!first || whyLeaving(here, now) === undefined) return false;
  const { route, isToWait } = await chooseRoute(request, all, except, now);
  return !isToWait && route !== undefined && routeNameOf(route) !== routeNameOf(first);
};

const isThrottled = ({ outcome }: ProviderAttempt): boolean =>
  outcome?.kind === 'busy' && outcome.obstacle !== 'unreached';
