import { type Clock, systemClock } from '../clock.ts';
import { logger } from '../observability.ts';
import {
  claimAttempt,
  keepAttemptAlive,
  listAttempts,
  type ProviderAttempt,
  recordOutcome,
} from '../provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer, ProviderCall } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest, markProcessing } from '../requests/requests.ts';
import { toInstant } from '../time.ts';
import { callbackUrl } from './provider-callbacks.ts';
import {
  DEADLINE_FAILURE,
  deadlineOf,
  latestAttempts,
  type NextStep,
  ProviderBusyError,
  ProviderCallInFlightError,
  type ProviderRoute,
  stepAfterCalls,
  waitTimeOf,
} from './workflow-rules.ts';

/** How often whoever makes a call says that it is alive, and after how long a silence it counts as dead. */
const ALIVE_INTERVAL_MS = 5_000;
const DEAD_AFTER_MS = 20_000;

/** How long a provider may take to accept a task: that is no work, only a note of it. */
const ACCEPT_TIMEOUT_MS = 60_000;

/**
 * Hands a request to its provider: every call of its plan is made once, whatever runs this again.
 *
 * 1. Load the request; a terminal one is left alone, a late one fails.
 * 2. Mark it processing first where the provider answers synchronously.
 * 3. Make every planned call that has no outcome. A call is claimed in the table before it is made; one that
 *    somebody claimed and left without an outcome is lost, and is not made again.
 * 4. Tell the state machine what follows from the outcomes.
 *
 * Throws `ProviderBusyError` when a call can be made again later, `ProviderCallInFlightError` while another
 * run is making one.
 */
export const dispatchRequest = async (
  requestId: string,
  providerRouteOf: (model: string) => Promise<ProviderRoute>,
  clock: Clock = systemClock,
): Promise<NextStep> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return { next: 'stop' };
  const deadline = deadlineOf(request);
  if (toInstant(clock.now()) >= deadline) return { next: 'fail', error: DEADLINE_FAILURE };

  const { provider, upstreamModel } = await providerRouteOf(request.model);
  const { mode, calls } = provider.plan(request, upstreamModel, await callbackUrl(provider.id, requestId));
  if (mode === 'synchronous') await markProcessing(request);

  const latest = latestAttempts(await listAttempts(requestId));
  const leftMs = Math.max(0, Date.parse(deadline) - clock.now().getTime());
  const signal = AbortSignal.timeout(mode === 'synchronous' ? leftMs : Math.min(leftMs, ACCEPT_TIMEOUT_MS));
  const settled = await Promise.allSettled(
    calls.map((call, place) =>
      ensureCall({ requestId, place, call, provider, signal, clock }, latest.get(place)),
    ),
  );
  const attempts = settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
  const busy = attempts.find(({ outcome }) => outcome?.kind === 'busy');
  if (busy?.outcome?.kind === 'busy') throw new ProviderBusyError(busy.outcome.reason);

  const taken = attempts.some(({ taskId, outcome }) => taskId !== undefined || outcome?.kind === 'done');
  if (mode === 'asynchronous' && taken) await markProcessing(request);
  return stepAfterCalls(attempts, () => waitTimeOf(request, provider.callsBack(request.kind), clock.now()));
};

interface PlannedCall {
  requestId: string;
  place: number;
  call: ProviderCall;
  provider: Provider;
  signal: AbortSignal;
  clock: Clock;
}

/** The call's outcome: the stored one, or that of making it now. */
const ensureCall = async (
  planned: PlannedCall,
  latest: ProviderAttempt | undefined,
): Promise<ProviderAttempt> => {
  const { requestId, place, clock } = planned;
  if (latest && !latest.outcome) {
    if (clock.now().getTime() - Date.parse(latest.aliveAt) < DEAD_AFTER_MS) {
      throw new ProviderCallInFlightError(`Call ${place} of ${requestId} is being made.`);
    }
    return recordOutcome(latest, ABANDONED, clock.now());
  }
  if (latest && latest.outcome?.kind !== 'busy') return latest;
  const claimed = await claimAttempt(requestId, place, (latest?.attempt ?? -1) + 1, clock.now());
  if (!claimed) throw new ProviderCallInFlightError(`Call ${place} of ${requestId} was just claimed.`);
  return recordOutcome(claimed, await submit(planned, claimed), clock.now());
};

const ABANDONED: ProviderAnswer & { kind: 'lost' } = {
  kind: 'lost',
  failure: {
    code: 'provider_error',
    message: 'The outcome of the call to the upstream provider is not known.',
  },
};

/** Makes the call, saying all the while that this process is alive. */
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
