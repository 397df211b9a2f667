import type { Failure } from '../errors.ts';
import type { RequestKind } from '../ids.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderOutput } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { addSeconds, type Instant } from '../time.ts';

/** The result of a workflow step: which state the state machine enters next. */
export type NextStep =
  /** The provider has finished and produced something: store it. */
  | { next: 'store' }
  /** A task is unfinished: wait for the provider. */
  | ({ next: 'wait' } & ProviderWaitTime)
  /** Nothing was produced: fail the request with this error and refund it. */
  | { next: 'fail'; error: Failure }
  /** The request is terminal or deleted. */
  | { next: 'stop' };

/** The limits of one wait for the provider, in whole seconds. */
export interface ProviderWaitTime {
  /** Heartbeat: query the provider after this long without one. */
  waitSeconds: number;
  /** Query the provider after this long in any case. Always longer than `waitSeconds`. */
  timeoutSeconds: number;
}

/** The deployment's settings that the rules need. */
export interface WorkflowSettings {
  /** Seconds from creation until an unfinished request fails. */
  deadlineSeconds: Record<RequestKind, number>;
  /** Shortest pause between two queries of an image task, in seconds. */
  pollIntervalSeconds: number;
}

/** When a request fails if it is still unfinished. */
export const deadlineOf = (
  { kind, createdAt }: Pick<StoredRequest, 'kind' | 'createdAt'>,
  { deadlineSeconds }: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => addSeconds(createdAt, deadlineSeconds[kind]);

/** The latest attempt of each planned call, by the call's index. `attempts` are in the order they were made. */
export const latestAttempts = (attempts: readonly ProviderAttempt[]): Map<number, ProviderAttempt> =>
  new Map(attempts.map((attempt) => [attempt.call, attempt]));

/** Every output that has a URL, in plan order. The position in this list is the output's index. */
export const producedOutputs = (attempts: Iterable<ProviderAttempt>): { url: string }[] =>
  [...attempts].flatMap(({ outcome }) => (outcome?.kind === 'done' ? outcome.outputs.filter(hasUrl) : []));

const hasUrl = (output: ProviderOutput): output is { url: string } => 'url' in output;

/** The next step once every planned call was made. `waitTime` is evaluated only when a task is open. */
export const stepAfterCalls = (
  attempts: readonly ProviderAttempt[],
  waitTime: () => ProviderWaitTime,
): NextStep => (hasOpenTask(attempts) ? { next: 'wait', ...waitTime() } : stepWhenFinished(attempts));

/** Whether any call was accepted as a task that is not known to have finished. */
export const hasOpenTask = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.some(({ outcome }) => outcome?.kind === 'accepted');

/**
 * The next step once every task has finished: store if anything was produced, else fail. A content decision
 * takes precedence over any other failure. Throws when no call has an outcome.
 */
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

/** Longest pause between two queries of a task. */
const MAX_WAIT_SECONDS = 300;

/**
 * The next pause as a share of the task's age. An image is found at most 25 % late. A video takes minutes and
 * its caller's reads query too, so its pauses double.
 */
const PAUSE_SHARE: Record<RequestKind, number> = { image: 1 / 4, video: 1 };
/**
 * Shortest pause, in poll intervals. At the default interval of 5 s a video waits 15 s, so that a caller who
 * reads every 5 s (and queries every 10 s) always comes first: a poll costs three state transitions, a query
 * from a read costs none.
 */
const MIN_INTERVALS: Record<RequestKind, number> = { image: 1, video: 3 };

/**
 * How long to wait before querying a task again. A polled provider: a share of the task's age, between the
 * minimum interval and 5 min, so the number of queries grows with the logarithm of the task's duration. A provider
 * that calls back: until the deadline; the reconciler covers lost callbacks. Never past the deadline.
 */
export const waitTimeOf = (
  request: Pick<StoredRequest, 'kind' | 'createdAt'>,
  callsBack: boolean,
  settings: WorkflowSettings,
  now: Date,
): ProviderWaitTime => {
  const elapsedSeconds = (now.getTime() - Date.parse(request.createdAt)) / 1000;
  const leftSeconds = Math.max(0, (Date.parse(deadlineOf(request, settings)) - now.getTime()) / 1000);
  const shareSeconds = elapsedSeconds * PAUSE_SHARE[request.kind];
  const minSeconds = settings.pollIntervalSeconds * MIN_INTERVALS[request.kind];
  const wantedSeconds = callsBack
    ? leftSeconds
    : Math.min(MAX_WAIT_SECONDS, Math.max(minSeconds, shareSeconds));
  const waitSeconds = Math.max(1, Math.ceil(Math.min(wantedSeconds, leftSeconds)));
  return { waitSeconds, timeoutSeconds: Math.max(waitSeconds, Math.ceil(leftSeconds)) + 1 };
};
