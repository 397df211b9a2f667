import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { requiredNumberEnv } from '../environment.ts';
import { logger } from '../observability.ts';
import {
  claimAttempts,
  keepAttemptAlive,
  listAttempts,
  originOf,
  type ProviderAttempt,
  recordOutcome,
} from '../provider-calls/provider-attempts.ts';
import type { Provider, ProviderCall, ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest, markProcessing } from '../requests/requests.ts';
import { addSeconds, toInstant } from '../time.ts';
import { callbackUrl } from './callback-urls.ts';
import { recordIfDead } from './dead-calls.ts';
import { keepTrying } from './keep-trying.ts';
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

/** Another run of this step is making the call. The state machine retries until it is done, by this name. */
export class ProviderCallInFlightError extends Error {
  override name = 'ProviderCallInFlightError';
}

/** A process that makes a call marks it alive this often. */
const ALIVE_INTERVAL_MS = 5_000;

/** The time of a function whose limit is not known, and what is left to return and log at its end. */
const DEFAULT_TIME_LEFT_MS = 30_000;
const RESERVED_MS = 5_000;
/** A claim is given up before it would count as that of a dead process. */
const MAX_CLAIM_MS = 10_000;

/** Submit timeout of an asynchronous call; accepting a task is quick, the work comes later. */
const ACCEPT_TIMEOUT_MS = 60_000;

/**
 * Makes the provider calls of a request: each planned call once, however often this runs.
 *
 * 1. Load the request and its attempts. Stop if it is terminal. After its deadline, make no call: what was
 *    produced is stored, and only a task may still be open.
 * 2. If the provider answers synchronously, mark the request processing before the calls.
 * 3. Claim and make every planned call that has no outcome. The claim is refused, and nothing called, when the
 *    request has ended since step 1. A claim without an outcome whose process has died counts as lost, and its
 *    call is not repeated.
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
  const { mode, calls } = provider.plan(request, upstreamModel, await callbackUrl(provider.id, requestId));
  if (mode === 'synchronous') await markProcessing(request);

  const origin = { provider: provider.id, upstreamModel, baseUrl: provider.baseUrl };
  const toMake = callsToMake(calls, stored, now);
  const [claimAt, claimId] = [clock.now(), randomUUID()];
  const claim = await keepTrying(
    () => claimAttempts(requestId, toMake, origin, claimAt, claimId),
    () => clock.now().getTime() < claimAt.getTime() + MAX_CLAIM_MS,
  );
  if (claim.kind === 'ended') return { next: 'stop' };
  if (claim.kind === 'taken') throw new ProviderCallInFlightError(`A call of ${requestId} was just claimed.`);
  const leftMs = Math.max(0, Date.parse(deadline) - clock.now().getTime());
  const signal = AbortSignal.timeout(mode === 'synchronous' ? leftMs : Math.min(leftMs, ACCEPT_TIMEOUT_MS));
  const made = await allSettled(
    claim.attempts.map((attempt) => makeCall(attempt, { calls, provider, signal, clock, endMs })),
  );
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

/** What every call of a run is made with. */
interface Run {
  calls: readonly ProviderCall[];
  provider: Provider;
  signal: AbortSignal;
  clock: Clock;
  /** Until when outcomes can be recorded, in epoch milliseconds. */
  endMs: number;
}

/** Makes a claimed call and records its outcome. The attempt is marked alive until that is done. */
const makeCall = async (
  attempt: ProviderAttempt,
  { calls, provider, signal, clock, endMs }: Run,
): Promise<ProviderAttempt> => {
  const call = calls[attempt.call];
  if (!call) throw new Error(`Call ${attempt.call} of ${attempt.requestId} is not in the plan.`);
  const heartbeat = setInterval(() => {
    keepAttemptAlive(attempt, clock.now()).catch((error: unknown) => {
      logger.warn('a provider call could not be marked alive', { error: error as Error });
    });
  }, ALIVE_INTERVAL_MS);
  try {
    const answer = await provider.submit(call, signal);
    if (answer.kind === 'waiting') throw new Error(`${provider.id} answered a creation with "waiting".`);
    const answeredAt = clock.now();
    return await keepTrying(
      () => recordOutcome(attempt, answer, answeredAt),
      () => clock.now().getTime() < endMs,
    );
  } finally {
    clearInterval(heartbeat);
  }
};

/** The results of all, once all have settled. Throws the first error. */
const allSettled = async <T>(work: readonly Promise<T>[]): Promise<T[]> => {
  const results = await Promise.allSettled(work);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
};
