import { type Clock, systemClock } from '../clock.ts';
import { requiredNumberEnv } from '../environment.ts';
import { withClipUrls } from '../files/clip-urls.ts';
import { listAttempts, originOf, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderCall, ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest, markProcessing } from '../requests/requests.ts';
import { addSeconds, toInstant } from '../time.ts';
import { callbackUrl } from './callback-urls.ts';
import { recordIfDead } from './dead-calls.ts';
import { type CallRun, claimCalls, makeCalls, ProviderCallInFlightError } from './make-calls.ts';
import {
  deadlineOf,
  firstCallAt,
  isAccepted,
  isBusyAttempt,
  latestAttempts,
  type NextStep,
  repeatableAt,
  stepAfterCalls,
  stepWhileBusy,
  waitTimeOf,
} from './workflow-rules.ts';
import { workflowSettings } from './workflow-settings.ts';

/** The time of a function whose limit is not known, and what is left to return and log at its end. */
const DEFAULT_TIME_LEFT_MS = 30_000;
const RESERVED_MS = 5_000;
/** How much longer than until the deadline a provider can fetch reference videos: its clock may differ. */
const CLIP_URL_SLACK_SECONDS = 300;

/**
 * Makes the provider calls of a request: each planned call once, however often this runs.
 *
 * 1. Load the request and its attempts. Stop if it is terminal. After its deadline, make no call: what was
 *    produced is stored, and only a task may still be open.
 * 2. If the provider answers synchronously, mark the request processing before the calls.
 * 3. Claim and make every planned call that has no outcome. The claim is refused, and nothing called, when the
 *    request has ended since step 1. A claim without an outcome whose process has died counts as lost, and its
 *    call is not repeated. A busy call is repeated while another one is under way.
 * 4. Return the next step: while the provider is too busy for a call, to run this again.
 *
 * `timeLeftMs` is how long the function may still run. What a provider answered is recorded by then, through
 * transient errors of the table, because an answer that is not recorded is lost.
 *
 * Throws `ProviderCallInFlightError` while another run is making a call.
 */
export const dispatchRequest = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
  timeLeftMs = DEFAULT_TIME_LEFT_MS,
): Promise<NextStep> => {
  const endMs = clock.now().getTime() + timeLeftMs - RESERVED_MS;
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return { next: 'stop' };
  const settings = workflowSettings();
  const all = await listAttempts(requestId);
  const stored = await Promise.all([...latestAttempts(all).values()].map((one) => recordIfDead(one, clock)));
  const inFlight = stored.find(({ outcome }) => outcome === undefined);
  if (inFlight) throw new ProviderCallInFlightError(`Call ${inFlight.call} of ${requestId} is being made.`);
  const now = clock.now();
  const firstCall = { kind: request.kind, firstCallAt: firstCallAt(all) ?? toInstant(now) };
  const deadline = deadlineOf(firstCall, settings);
  if (toInstant(now) >= deadline) {
    if (isAccepted(stored)) await markProcessing(request);
    return stepAfterCalls(stored, () => waitTimeOf(firstCall, false, settings, now));
  }

  // A request whose provider may have taken a call stays with it: the calls of two plans do not mix.
  const taken = stored.find((attempt) => !isBusyAttempt(attempt));
  const { provider, upstreamModel } = await providerRouteOf(request.model, taken && originOf(taken));
  const planned = await withClipUrls(request, addSeconds(deadline, CLIP_URL_SLACK_SECONDS));
  const { mode, calls } = provider.plan(planned, upstreamModel, await callbackUrl(provider.id, requestId));
  if (mode === 'synchronous') await markProcessing(request);

  const origin = { provider: provider.id, upstreamModel, baseUrl: provider.baseUrl };
  const run: CallRun = { requestId, calls, mode, provider, origin, deadline, clock, endMs };
  const claimed = await claimCalls(run, callsToMake(calls, stored, now));
  if (!claimed) return { next: 'stop' };
  const made = await makeCalls(claimed, run);
  const attempts = [...latestAttempts([...stored, ...made]).values()];
  if (mode === 'asynchronous' && isAccepted(attempts)) {
    const lookAt = addSeconds(toInstant(clock.now()), requiredNumberEnv('CALLBACK_WAIT_SECONDS'));
    await markProcessing(request, lookAt);
  }

  const busy = attempts.filter(isBusyAttempt);
  if (busy.length > 0) return stepWhileBusy(busy, deadline, clock.now(), Math.random());
  return stepAfterCalls(attempts, () =>
    waitTimeOf(firstCall, provider.callsBack(request.kind), settings, clock.now()),
  );
};

/** The planned calls that were never made, or that a busy provider now takes again, each with its next attempt. */
const callsToMake = (
  calls: readonly ProviderCall[],
  stored: readonly ProviderAttempt[],
  now: Date,
): { call: number; attempt: number }[] => {
  const latest = latestAttempts(stored);
  return calls.flatMap((_, call) => {
    const last = latest.get(call);
    if (!last) return [{ call, attempt: 0 }];
    return isBusyAttempt(last) && repeatableAt(last) <= toInstant(now)
      ? [{ call, attempt: last.attempt + 1 }]
      : [];
  });
};
