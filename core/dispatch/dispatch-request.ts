import {
  askForPass,
  giveBack,
  leaveQueue,
  leaveRoute,
  type Pass,
  startWith,
} from '../admission/admission.ts';
import { type Clock, systemClock } from '../clock.ts';
import { Pace } from '../concurrency/pace.ts';
import { requiredNumberEnv } from '../environment.ts';
import { deadlineOf } from '../executions/deadline-rules.ts';
import { type NextStep, stepAfterCalls } from '../executions/step-rules.ts';
import { workflowSettings } from '../executions/workflow-settings.ts';
import { withClipUrls } from '../files/clip-urls.ts';
import {
  firstCallAt,
  hasOpenTask,
  isAccepted,
  isBusyAttempt,
  latestAttempts,
  repeatableAt,
} from '../provider-calls/attempt-rules.ts';
import { callbackUrl } from '../provider-calls/callback-urls.ts';
import { recordIfDead } from '../provider-calls/dead-calls.ts';
import { originOf, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderCall, ProviderRouteOf } from '../provider-calls/providers.ts';
import { findRequestAndAttempts } from '../provider-calls/request-and-attempts.ts';
import { checkStatus, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { markProcessing } from '../requests/requests.ts';
import { dueListOf } from '../table/keys.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import { type CallRun, claimCalls, makeCalls, ProviderCallInFlightError } from './make-calls.ts';
import { stepWhileBusy, stepWhileFull } from './pause-rules.ts';

/** The time of a function whose limit is not known, and what is left to return and log at its end. */
const DEFAULT_TIME_LEFT_MS = 30_000;
const RESERVED_MS = 5_000;
/** How much longer than until the deadline a provider can fetch reference videos: its clock may differ. */
const CLIP_URL_SLACK_SECONDS = 300;

/**
 * Makes the provider calls of a request: each planned call once, however often this runs.
 *
 * 1. Load the request and its attempts. Stop if it is terminal. After its deadline, make no call: leave the queue, where
 *    its time may have run out, and store the outputs so far; only a task may still be open.
 * 2. Ask for a pass of the provider's route, if it is limited. Without one, the request waits in the queue.
 * 3. Claim and make every planned call that has no outcome. From here on, a request that waited is due soon
 *    again, and a request to a synchronous provider is processing. The claim is refused, and nothing called,
 *    when the request has ended since step 1. A claim of a dead process without an outcome counts as lost,
 *    and its call is not repeated. A busy call is repeated while another one is under way.
 * 4. Give the pass back unless a task is open, and return the next step: while the provider is too busy for a call,
 *    to run this again.
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
  const { request, attempts: all } = await findRequestAndAttempts(requestId);
  if (!request) return { next: 'stop' };
  if (isTerminal(request)) return stopped(request, clock);
  checkStatus(request);
  const settings = workflowSettings();
  const stored = await Promise.all(latestAttempts(all).map((one) => recordIfDead(one, clock)));
  const inFlight = stored.find(({ outcome }) => outcome === undefined);
  if (inFlight) throw new ProviderCallInFlightError(`Call ${inFlight.call} of ${requestId} is being made.`);
  const now = clock.now();
  const firstCall = { kind: request.kind, firstCallAt: firstCallAt(all) ?? toInstant(now) };
  const deadline = deadlineOf(firstCall, settings);
  if (toInstant(now) >= deadline) {
    await leaveQueue(request);
    if (isAccepted(stored)) await markProcessing(request);
    return stepAfterCalls(stored, deadline, now);
  }

  // A request whose provider may have taken a call stays with it: the calls of two plans do not mix.
  const taken = stored.find((attempt) => !isBusyAttempt(attempt));
  const { provider, upstreamModel } = await providerRouteOf(request.model, taken && originOf(taken));
  const planned = await withClipUrls(request, addSeconds(deadline, CLIP_URL_SLACK_SECONDS));
  const { mode, calls } = provider.plan(planned, upstreamModel, await callbackUrl(provider.id, requestId));
  const route = { provider: provider.id, upstreamModel };
  const wanted = callsToMake(calls, stored).length;
  const asked = await askForPass(request, route, wanted, clock);
  if (asked.kind === 'full') {
    return stepWhileFull(request, firstCallAt(all), asked.place, settings, clock.now());
  }
  const pass = asked.kind === 'pass' ? asked.pass : undefined;
  if (pass) await startWith(request, pass, clock);
  const origin = { ...route, baseUrl: provider.baseUrl };
  const run: CallRun = {
    ...{ requestId, calls, mode, provider, origin, deadline, clock, endMs },
    permit:
      pass?.gate.permits === undefined ? undefined : { gate: pass.gate.name, takenMs: pass.permit.takenMs },
    lookAt: lookAfterQueue(request, clock),
    pace: new Pace(pass?.permit.weight ?? calls.length, pass?.gate.intervalMs ?? 0, () =>
      clock.now().getTime(),
    ),
  };
  const claimed = await claimCalls(run, callsToMake(calls, stored, clock.now()));
  if (!claimed) return stopped(request, clock);
  const made = await makeCalls(claimed, run);
  const attempts = latestAttempts([...stored, ...made]);
  if (mode === 'asynchronous' && isAccepted(attempts)) {
    const firstLookAt = provider.callsBack(request.kind)
      ? silentUntil(clock)
      : addSeconds(toInstant(clock.now()), settings.pollIntervalSeconds);
    await markProcessing(request, firstLookAt);
  }

  const busy = attempts.filter(isBusyAttempt);
  const step =
    busy.length > 0
      ? stepWhileBusy(busy, deadline, clock.now(), Math.random())
      : stepAfterCalls(attempts, deadline, clock.now());
  if (pass) await giveBackAfter(step, attempts, pass, request, clock);
  return step;
};

/** The end of a run that finds its request ended: it may have got a pass since. */
const stopped = async (request: StoredRequest, clock: Clock): Promise<NextStep> => {
  await leaveRoute(request, clock);
  return { next: 'stop' };
};

/** Keeps the pass of a request with an open task, else gives it back. After a refusal, the route pauses as the request does. */
const giveBackAfter = async (
  step: NextStep,
  attempts: readonly ProviderAttempt[],
  pass: Pass,
  request: StoredRequest,
  clock: Clock,
): Promise<void> => {
  if (hasOpenTask(attempts)) return;
  await giveBack(request, pass, clock, step.next === 'retry' ? step.waitSeconds : 0);
};

/** When to query a provider that has not called back. */
const silentUntil = (clock: Clock): Instant =>
  addSeconds(toInstant(clock.now()), requiredNumberEnv('CALLBACK_WAIT_SECONDS'));

/**
 * The next due time of a request that waited for capacity and was due at the end of that wait; undefined for
 * any other.
 */
const lookAfterQueue = ({ GSI1PK, GSI1SK = '' }: StoredRequest, clock: Clock): Instant | undefined => {
  const soon = silentUntil(clock);
  return dueListOf(GSI1PK) === 'LOOK' && GSI1SK > soon ? soon : undefined;
};

/**
 * The planned calls that were never made, or that a busy provider takes again, each with its next attempt. With `now`, only
 * those that it takes by then.
 */
const callsToMake = (
  calls: readonly ProviderCall[],
  stored: readonly ProviderAttempt[],
  now?: Date,
): { call: number; attempt: number }[] => {
  const latest = latestAttempts(stored);
  return calls.flatMap((_, call) => {
    const last = latest.find((attempt) => attempt.call === call);
    if (!last) return [{ call, attempt: 0 }];
    return isBusyAttempt(last) && (now === undefined || repeatableAt(last) <= toInstant(now))
      ? [{ call, attempt: last.attempt + 1 }]
      : [];
  });
};
