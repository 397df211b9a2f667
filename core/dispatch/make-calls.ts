import { randomBytes } from 'node:crypto';
import type { Pace } from '../concurrency/pace.ts';
import { countMetric, logger, METRIC, runOrLog } from '../observability.ts';
import { isBusyAttempt } from '../provider-calls/attempt-rules.ts';
import { type ClaimOptions, claimAttempts, type PlannedAttempt } from '../provider-calls/claim-attempts.ts';
import {
  keepAttemptAlive,
  type ProviderAttempt,
  recordOutcome,
} from '../provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer, ProviderCall, ProviderPlan } from '../provider-calls/providers.ts';
import type { ProviderId } from '../provider-names.ts';
import type { Clock, Instant } from '../time.ts';
import { keepTrying } from '../transient-errors.ts';
import { stepWhileBusy } from './dispatch-rules.ts';

/** Another run of this step is making the call. The state machine retries until it is done, by this name. */
export class ProviderCallInFlightError extends Error {
  override name = 'ProviderCallInFlightError';
}

/** Interval at which the calling process marks a call alive. */
const ALIVE_INTERVAL_MS = 5_000;
/** A claim is given up before it would count as that of a dead process. */
const MAX_CLAIM_MS = 10_000;
/** Submit timeout of an asynchronous call; accepting a task is quick, the work comes later. */
const ACCEPT_TIMEOUT_MS = 60_000;

/** Options of every call of a run. */
export interface CallRun {
  requestId: string;
  calls: readonly ProviderCall[];
  mode: ProviderPlan['mode'];
  provider: Provider;
  /** The request's deadline. */
  deadline: Instant;
  clock: Clock;
  /** The end of the time for recording outcomes, in epoch milliseconds. */
  endMs: number;
  /** Facts about its claims, each of which has an id and a time of its own. */
  claim: Omit<ClaimOptions, 'claimId' | 'now'>;
  /** The spacing of the request's calls. */
  pace: Pace;
  /** Whether the request made calls at this route before. */
  isRepeated: boolean;
}

/** An id of a claim: 72 random bits, in 12 characters, since every write of the request pays for its size. */
const newClaimId = (): string => randomBytes(9).toString('base64url');

/**
 * Claims calls, all or none; undefined when the request has ended. Transient errors are retried for 10 s. Throws
 * `ProviderCallInFlightError` when another run has claimed one of them.
 */
export const claimCalls = async (
  { requestId, clock, claim: options }: CallRun,
  planned: readonly PlannedAttempt[],
): Promise<ProviderAttempt[] | undefined> => {
  const [claimAt, claimId] = [clock.now(), newClaimId()];
  const claim = await keepTrying(
    () => claimAttempts(requestId, planned, { ...options, claimId, now: claimAt }),
    () => clock.now().getTime() < claimAt.getTime() + MAX_CLAIM_MS,
  );
  if (claim.kind === 'taken') throw new ProviderCallInFlightError(`A call of ${requestId} was just claimed.`);
  return claim.kind === 'ended' ? undefined : claim.attempts;
};

/**
 * Makes claimed calls in parallel and records their outcomes. A call that met a busy provider is repeated while a sibling call is
 * under way, so that a slow sibling does not use up the repeated call's time. Returns once no call is under way: the state
 * machine waits at a lower price. Throws the first error, once all have settled.
 */
export const makeCalls = async (
  claimed: readonly ProviderAttempt[],
  run: CallRun,
): Promise<ProviderAttempt[]> => {
  const underWay = new UnderWay();
  const results = await Promise.allSettled(claimed.map((attempt) => makeUntilTaken(attempt, underWay, run)));
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
};

/** The calls that wait for an answer. */
class UnderWay {
  private count = 0;
  private readonly over = Promise.withResolvers<void>();

  /** Counts a call until it settles. */
  async during<T>(call: Promise<T>): Promise<T> {
    this.count++;
    try {
      return await call;
    } finally {
      this.count--;
      if (this.count === 0) this.over.resolve();
    }
  }

  /** Waits for this long, or until no call is under way. Returns whether one still is. */
  async pause(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const passed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([passed, this.over.promise]);
    clearTimeout(timer);
    return this.count > 0;
  }
}

/** The attempts of a call in this run. */
const makeUntilTaken = async (
  first: ProviderAttempt,
  underWay: UnderWay,
  run: CallRun,
): Promise<ProviderAttempt[]> => {
  const made = [await underWay.during(makeCall(first, run, run.isRepeated))];
  for (let last = made[0]; last && isBusyAttempt(last); last = made.at(-1)) {
    const { waitSeconds } = stepWhileBusy([last], new Date(run.deadline), run.clock.now(), Math.random());
    if (!(await underWay.pause(waitSeconds * 1000)) || !hasTimeForCall(run)) break;
    const claimed = await claimCalls(run, [{ call: last.call, attempt: last.attempt + 1 }]);
    if (!claimed?.[0]) break;
    made.push(await underWay.during(makeCall(claimed[0], run, true)));
  }
  return made;
};

/** The time limit of a call that begins now, in milliseconds. */
const callLimitMs = ({ deadline, mode, clock }: CallRun): number => {
  const leftMs = Math.max(0, Date.parse(deadline) - clock.now().getTime());
  return mode === 'synchronous' ? leftMs : Math.min(leftMs, ACCEPT_TIMEOUT_MS);
};

/** Whether a call that begins now is before the deadline, and ends before the run does. */
const hasTimeForCall = (run: CallRun): boolean => {
  const limitMs = callLimitMs(run);
  return limitMs > 0 && run.clock.now().getTime() + limitMs <= run.endMs;
};

/**
 * The answer to record for a call. If it was repeated, `ifRepeated` replaces a busy answer: it is
 * final, and the operator must act.
 */
const answerTo = (answer: ProviderAnswer, isRepeated: boolean, provider: ProviderId): ProviderAnswer => {
  if (answer.kind !== 'busy' || answer.ifRepeated === undefined) return answer;
  const { ifRepeated, upstream, ...busy } = answer;
  if (!isRepeated) return busy;
  logger.error('provider is full, or the quota is used up', { provider, reason: busy.reason });
  countMetric(METRIC.providerAccessRefused, { provider });
  return {
    kind: 'failed',
    failure: ifRepeated,
    taken: 'no',
    obstacle: 'quota',
    ...(upstream && { upstream }),
  };
};

/** Makes a claimed call and records its outcome. The attempt is marked alive until that is done. */
const makeCall = async (
  attempt: ProviderAttempt,
  run: CallRun,
  isRepeated: boolean,
): Promise<ProviderAttempt> => {
  const { requestId, calls, provider, clock, endMs, pace } = run;
  const call = calls[attempt.call];
  if (!call) throw new Error(`Call ${attempt.call} of ${requestId} is not in the plan.`);
  const heartbeat = setInterval(() => {
    const failure = { message: 'a provider call could not be marked alive', level: 'warn' } as const;
    void runOrLog(failure, () => keepAttemptAlive(attempt, clock.now()));
  }, ALIVE_INTERVAL_MS);
  try {
    const submitted = await pace.during(async () => {
      const startedMs = clock.now().getTime();
      const answer = await provider.submit(call, AbortSignal.timeout(callLimitMs(run)));
      const { kind: outcome, providerRequestId } = answer;
      logger.info('provider call', {
        ...{ requestId, provider: provider.id, upstreamModel: attempt.upstreamModel },
        ...{ call: attempt.call, attempt: attempt.attempt, outcome, providerRequestId },
        taskId: answer.kind === 'accepted' ? answer.taskId : undefined,
        milliseconds: clock.now().getTime() - startedMs,
      });
      return answer;
    });
    const answer = answerTo(submitted, isRepeated, provider.id);
    if (answer.kind === 'waiting' || answer.kind === 'refused')
      throw new Error(`${provider.id} answered a creation with "${answer.kind}".`);
    const answeredAt = clock.now();
    return await keepTrying(
      () => recordOutcome(attempt, answer, answeredAt),
      () => clock.now().getTime() < endMs,
    );
  } finally {
    clearInterval(heartbeat);
  }
};
