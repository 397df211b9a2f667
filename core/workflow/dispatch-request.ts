import { type Clock, systemClock } from '../clock.ts';
import { logger } from '../observability.ts';
import {
  claimAttempt,
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
 * 3. Make every planned call that has no outcome. Each call is claimed in the table first. A claim without an
 *    outcome whose process has died counts as lost, and its call is not repeated.
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
  const leftMs = Math.max(0, Date.parse(deadline) - clock.now().getTime());
  const signal = AbortSignal.timeout(mode === 'synchronous' ? leftMs : Math.min(leftMs, ACCEPT_TIMEOUT_MS));
  const results = await Promise.allSettled(
    calls.map((call, index) =>
      ensureCall({ requestId, index, call, provider, signal, clock }, latest.get(index)),
    ),
  );
  const attempts = results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
  const busy = attempts.find(({ outcome }) => outcome?.kind === 'busy');
  if (busy?.outcome?.kind === 'busy') throw new ProviderBusyError(busy.outcome.reason);

  const isAccepted = attempts.some(({ taskId, outcome }) => taskId !== undefined || outcome?.kind === 'done');
  if (mode === 'asynchronous' && isAccepted) await markProcessing(request);
  return stepAfterCalls(attempts, () =>
    waitTimeOf(request, provider.callsBack(request.kind), settings, clock.now()),
  );
};

interface PlannedCall {
  requestId: string;
  /** The call's position in the plan. */
  index: number;
  call: ProviderCall;
  provider: Provider;
  signal: AbortSignal;
  clock: Clock;
}

/** Returns the call's stored outcome, or makes the call. */
const ensureCall = async (
  planned: PlannedCall,
  latest: ProviderAttempt | undefined,
): Promise<ProviderAttempt> => {
  const { requestId, index, clock } = planned;
  if (latest && !latest.outcome) {
    if (clock.now().getTime() - Date.parse(latest.aliveAt) < DEAD_AFTER_MS) {
      throw new ProviderCallInFlightError(`Call ${index} of ${requestId} is being made.`);
    }
    return recordOutcome(latest, ABANDONED, clock.now());
  }
  if (latest && latest.outcome?.kind !== 'busy') return latest;
  const claimed = await claimAttempt(requestId, index, (latest?.attempt ?? -1) + 1, clock.now());
  if (!claimed) throw new ProviderCallInFlightError(`Call ${index} of ${requestId} was just claimed.`);
  return recordOutcome(claimed, await submit(planned, claimed), clock.now());
};

const ABANDONED: ProviderAnswer & { kind: 'lost' } = {
  kind: 'lost',
  failure: {
    code: 'provider_error',
    message: 'The outcome of the call to the upstream provider is not known.',
  },
};

/** Makes the call and marks the attempt alive until the provider answers. */
const submit = async (
  { provider, call, signal, clock }: PlannedCall,
  attempt: ProviderAttempt,
): Promise<Exclude<ProviderAnswer, { kind: 'waiting' }>> => {
  const heartbeat = setInterval(() => {
    keepAttemptAlive(attempt, clock.now()).catch((error: unknown) => {
      logger.warn('a provider call could not be marked alive', { error: error as Error });
    });
  }, ALIVE_INTERVAL_MS);
  try {
    const answer = await provider.submit(call, signal);
    if (answer.kind === 'waiting') throw new Error(`${provider.id} answered a creation with "waiting".`);
    return answer;
  } finally {
    clearInterval(heartbeat);
  }
};
