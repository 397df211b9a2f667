import type { Failure } from './errors.ts';
import type { ProviderAttempt } from './provider-attempts.ts';
import type { Provider, ProviderOutput } from './providers.ts';
import { addSeconds, type Instant } from './time.ts';

/** What the workflow does next: the one thing a step's function tells the state machine. */
export type NextStep =
  /** Every output that will be produced is: store them. */
  | { next: 'store' }
  /** The provider is at work: look again after so many whole seconds. */
  | { next: 'wait'; waitSeconds: number }
  /** Nothing was produced: fail the request with this and refund it. */
  | { next: 'fail'; error: Failure }
  /** The request is terminal, or gone: nothing is left to do. */
  | { next: 'stop' };

/** A model's provider and the name it has there. */
export interface Upstream {
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

/** When a request's time is up. */
export const deadlineOf = (request: { createdAt: Instant }, deadlineSeconds: number): Instant =>
  addSeconds(request.createdAt, deadlineSeconds);

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
export const stepAfterCalls = (attempts: readonly ProviderAttempt[], waitSeconds: () => number): NextStep => {
  if (attempts.some(({ outcome }) => outcome?.kind === 'accepted')) {
    return { next: 'wait', waitSeconds: waitSeconds() };
  }
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
 * How long to wait before looking at a task again: a quarter of the time it has taken so far, at least the
 * configured interval and at most 5 min, and never past the deadline. So a task is found finished at most
 * 25 % late, and the number of looks grows with the logarithm of its time.
 */
export const pollWaitSeconds = (
  startedAt: Instant,
  now: Date,
  pollIntervalSeconds: number,
  deadline: Instant,
): number => {
  const elapsedSeconds = (now.getTime() - Date.parse(startedAt)) / 1000;
  const wanted = Math.min(MAX_WAIT_SECONDS, Math.max(pollIntervalSeconds, elapsedSeconds / 4));
  const leftSeconds = (Date.parse(deadline) - now.getTime()) / 1000;
  return Math.max(1, Math.ceil(Math.min(wanted, leftSeconds)));
};
