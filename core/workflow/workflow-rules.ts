import { requiredNumberEnv } from '../environment.ts';
import type { Failure } from '../errors.ts';
import type { RequestKind } from '../ids.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { Provider, ProviderOutput } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { addSeconds, type Instant } from '../time.ts';

/** What the workflow does next: the one thing a step's function tells the state machine. */
export type NextStep =
  /** Every output that will be produced is: store them. */
  | { next: 'store' }
  /** The provider is at work: wait for news. */
  | ({ next: 'wait' } & ProviderWaitTime)
  /** Nothing was produced: fail the request with this and refund it. */
  | { next: 'fail'; error: Failure }
  /** The request is terminal, or gone: nothing is left to do. */
  | { next: 'stop' };

/** How long to wait for news of a provider, in whole seconds. */
export interface ProviderWaitTime {
  /** Without a sign of life for so long, the provider is asked. */
  waitSeconds: number;
  /** After so long it is asked in any case; longer than `waitSeconds`. */
  timeoutSeconds: number;
}

/** A model's provider and the name it has there. */
export interface ProviderRoute {
  provider: Provider;
  upstreamModel: string;
}

/**
 * Nothing was accepted upstream: the same step may run again. The state machine retries it by this name.
 */
export class ProviderBusyError extends Error {
  override name = 'ProviderBusyError';
}

/**
 * Another run of the same step is making the call right now. The state machine waits for it by this name.
 */
export class ProviderCallInFlightError extends Error {
  override name = 'ProviderCallInFlightError';
}

/** The failure of a request that is not finished when its time is up. */
export const DEADLINE_FAILURE: Failure = {
  code: 'provider_timeout',
  message: 'The upstream provider did not finish in time.',
};

/** When a request's time is up: images and videos have a deadline each. */
export const deadlineOf = ({ kind, createdAt }: Pick<StoredRequest, 'kind' | 'createdAt'>): Instant =>
  addSeconds(
    createdAt,
    requiredNumberEnv(kind === 'image' ? 'IMAGE_DEADLINE_SECONDS' : 'VIDEO_DEADLINE_SECONDS'),
  );

/** The last try of each planned call, by its place in the plan. */
export const latestAttempts = (attempts: readonly ProviderAttempt[]): Map<number, ProviderAttempt> =>
  new Map(attempts.map((attempt) => [attempt.call, attempt]));

/** Every output the calls produced, in the order of the plan. Its place in this list is an output's index. */
export const producedOutputs = (attempts: Iterable<ProviderAttempt>): { url: string }[] =>
  [...attempts].flatMap(({ outcome }) => (outcome?.kind === 'done' ? outcome.outputs.filter(hasUrl) : []));

const hasUrl = (output: ProviderOutput): output is { url: string } => 'url' in output;

/**
 * What follows once no call is left to be made: wait while a task is open, store when anything was
 * produced, else fail with what the calls say, a content decision before any other.
 */
export const stepAfterCalls = (
  attempts: readonly ProviderAttempt[],
  waitTime: () => ProviderWaitTime,
): NextStep => (hasOpenTask(attempts) ? { next: 'wait', ...waitTime() } : stepWhenFinished(attempts));

/** Whether a task is open: accepted, and not known to be over. */
export const hasOpenTask = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.some(({ outcome }) => outcome?.kind === 'accepted');

/** What follows once every task is over. */
export const stepWhenFinished = (attempts: readonly ProviderAttempt[]): NextStep => {
  if (producedOutputs(attempts).length > 0) return { next: 'store' };
  const failures = attempts.flatMap(({ outcome }) => {
    if (outcome?.kind === 'failed' || outcome?.kind === 'lost') return [outcome.failure];
    return outcome?.kind === 'done'
      ? outcome.outputs.flatMap((o) => ('failure' in o ? [o.failure] : []))
      : [];
  });
  const error = failures.find(({ code }) => code === 'content_policy') ?? failures[0];
  if (!error) throw new Error('No provider call has an outcome.');
  return { next: 'fail', error };
};

/** Longest pause between two looks at a task. */
const MAX_WAIT_SECONDS = 300;

/**
 * How much longer a task is left alone than it has taken so far: videos take minutes and their callers' reads
 * ask too, so the pauses double; images are looked for so that they are found at most 25 % late.
 */
const PAUSE_SHARE: Record<RequestKind, number> = { image: 1 / 4, video: 1 };
/**
 * Shortest pause, in configured intervals. With the default of 5 s a video is left alone for 15 s, so that a
 * caller who reads every 5 s, and thereby asks every 10 s, is always first: each poll costs three transitions,
 * such a question none.
 */
const MIN_INTERVALS: Record<RequestKind, number> = { image: 1, video: 3 };

/**
 * How long to wait before a task is looked at again: a share of the time it has taken so far, at least the
 * configured interval (three of them for a video) and at most 5 min, so that the number of looks grows with the
 * logarithm of its time. A provider that calls back is waited for until the deadline; the reconciler sees to a
 * lost callback.
 */
export const waitTimeOf = (
  request: Pick<StoredRequest, 'kind' | 'createdAt'>,
  callsBack: boolean,
  now: Date,
): ProviderWaitTime => {
  const elapsedSeconds = (now.getTime() - Date.parse(request.createdAt)) / 1000;
  const leftSeconds = Math.max(0, (Date.parse(deadlineOf(request)) - now.getTime()) / 1000);
  const shareSeconds = elapsedSeconds * PAUSE_SHARE[request.kind];
  const interval = requiredNumberEnv('POLL_INTERVAL_SECONDS') * MIN_INTERVALS[request.kind];
  const wanted = callsBack ? leftSeconds : Math.min(MAX_WAIT_SECONDS, Math.max(interval, shareSeconds));
  const waitSeconds = Math.max(1, Math.ceil(Math.min(wanted, leftSeconds)));
  return { waitSeconds, timeoutSeconds: Math.max(waitSeconds, Math.ceil(leftSeconds)) + 1 };
};
