import { type Clock, systemClock } from '../clock.ts';
import { logger } from '../observability.ts';
import {
  claimAttempts,
  keepAttemptAlive,
  listAttempts,
  type ProviderAttempt,
  recordOutcome,
} from '../provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer, ProviderCall, ProviderRouteOf } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest, markProcessing } from '../requests/requests.ts';
import { toInstant } from '../time.ts';
import { callbackUrl } from './callback-urls.ts';
import { DEADLINE_FAILURE } from './workflow-failures.ts';
import { deadlineOf, latestAttempts, type NextStep, stepAfterCalls, waitTimeOf } from './workflow-rules.ts';
import { workflowSettings } from './workflow-settings.ts';

/** The provider accepted nothing: the step may run again. The state machine retries it by this name. */
export class ProviderBusyError extends Error {
  override name = 'ProviderBusyError';
}

/** Another run of this step is making the call. The state machine retries until it is done, by this name. */
export class ProviderCallInFlightError extends Error {
  override name = 'ProviderCallInFlightError';
}

/** A process that makes a call marks it alive this often, and counts as dead after this long without a mark. */
const ALIVE_INTERVAL_MS = 5_000;
const DEAD_AFTER_MS = 20_000;

/** Submit timeout of an asynchronous call; accepting a task is quick, the work comes later. */
const ACCEPT_TIMEOUT_MS = 60_000;

/**
 * Makes the provider calls of a request: each planned call once, however often this runs.
 *
 * 1. Load the request. Stop if it is terminal, fail it if its deadline has passed.
 * 2. If the provider answers synchronously, mark the request processing before the calls.
 * 3. Claim and make every planned call that has no outcome. The claim is refused, and nothing called, when the
 *    request has ended since step 1. A claim without an outcome whose process has died counts as lost, and its
 *    call is not repeated.
 * 4. Return the next step.
 *
 * Throws `ProviderBusyError` when a call can be repeated later, `ProviderCallInFlightError` while another run
 * is making one.
 */
export const dispatchRequest = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<NextStep> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return { next: 'stop' };
  const settings = workflowSettings();
  const deadline = deadlineOf(request, settings);
  if (toInstant(clock.now()) >= deadline) return { next: 'fail', error: DEADLINE_FAILURE };

  const { provider, upstreamModel } = await providerRouteOf(request.model);
  const { mode, calls } = provider.plan(request, upstreamModel, await callbackUrl(provider.id, requestId));
  if (mode === 'synchronous') await markProcessing(request);

  const latest = latestAttempts(await listAttempts(requestId));
  const stored = await Promise.all(calls.map((_, index) => withoutDead(latest.get(index), clock)));
  const leftMs = Math.max(0, Date.parse(deadline) - clock.now().getTime());
  const signal = AbortSignal.timeout(mode === 'synchronous' ? leftMs : Math.min(leftMs, ACCEPT_TIMEOUT_MS));
  const toMake = stored.flatMap((attempt, call) =>
    attempt && attempt.outcome?.kind !== 'busy' ? [] : [{ call, attempt: (attempt?.attempt ?? -1) + 1 }],
  );
  const claim = await claimAttempts(requestId, toMake, clock.now());
  if (claim.kind === 'ended') return { next: 'stop' };
  if (claim.kind === 'taken') throw new ProviderCallInFlightError(`A call of ${requestId} was just claimed.`);
  const made = await allSettled(
    claim.attempts.map((attempt) => makeCall(attempt, { calls, provider, signal, clock })),
  );
  const attempts = [...latestAttempts([...stored.flatMap((attempt) => attempt ?? []), ...made]).values()];
  const busy = attempts.find(({ outcome }) => outcome?.kind === 'busy');
  if (busy?.outcome?.kind === 'busy') throw new ProviderBusyError(busy.outcome.reason);

  const isAccepted = attempts.some(({ taskId, outcome }) => taskId !== undefined || outcome?.kind === 'done');
  if (mode === 'asynchronous' && isAccepted) await markProcessing(request);
  return stepAfterCalls(attempts, () =>
    waitTimeOf(request, provider.callsBack(request.kind), settings, clock.now()),
  );
};

/**
 * The latest attempt of a call, recorded as lost when the process that makes it has died. Throws
 * `ProviderCallInFlightError` while that process is alive.
 */
const withoutDead = async (
  latest: ProviderAttempt | undefined,
  clock: Clock,
): Promise<ProviderAttempt | undefined> => {
  if (!latest || latest.outcome) return latest;
  if (clock.now().getTime() - Date.parse(latest.aliveAt) < DEAD_AFTER_MS) {
    throw new ProviderCallInFlightError(`Call ${latest.call} of ${latest.requestId} is being made.`);
  }
  return recordOutcome(latest, ABANDONED, clock.now());
};

const ABANDONED: ProviderAnswer & { kind: 'lost' } = {
  kind: 'lost',
  failure: {
    code: 'provider_error',
    message: 'The outcome of the call to the upstream provider is not known.',
  },
};

/** What every call of a run is made with. */
interface Run {
  calls: readonly ProviderCall[];
  provider: Provider;
  signal: AbortSignal;
  clock: Clock;
}

/** Makes a claimed call, marking its attempt alive until the provider answers, and records the outcome. */
const makeCall = async (
  attempt: ProviderAttempt,
  { calls, provider, signal, clock }: Run,
): Promise<ProviderAttempt> => {
  const call = calls[attempt.call];
  if (!call) throw new Error(`Call ${attempt.call} of ${attempt.requestId} is not in the plan.`);
  const heartbeat = setInterval(() => {
    keepAttemptAlive(attempt, clock.now()).catch((error: unknown) => {
      logger.warn('a provider call could not be marked alive', { error: error as Error });
    });
  }, ALIVE_INTERVAL_MS);
  let answer: ProviderAnswer;
  try {
    answer = await provider.submit(call, signal);
  } finally {
    clearInterval(heartbeat);
  }
  if (answer.kind === 'waiting') throw new Error(`${provider.id} answered a creation with "waiting".`);
  return recordOutcome(attempt, answer, clock.now());
};

/** The results of all, once all have settled. Throws the first error. */
const allSettled = async <T>(work: readonly Promise<T>[]): Promise<T[]> => {
  const results = await Promise.allSettled(work);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
};
