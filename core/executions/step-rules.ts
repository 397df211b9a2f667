import type { WorkflowSettings } from '../environment.ts';
import { type Failure, UNEXPECTED_ERROR } from '../errors.ts';
import type { RequestKind } from '../ids.ts';
import { firstCallAt, hasOpenTask, isBusyAttempt, producedOutputs } from '../provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant, later } from '../time.ts';

/**
 * A request's wait for a permit of `route`. `weight` is the number of calls at once, `starts` the number of calls in all.
 * `routes` are the names of all routes that accept the request, if its model has several routes.
 */
export interface QueuePosition {
  route: string;
  weight: number;
  starts: number;
  routes?: string[] | undefined;
}

/** The result of a workflow step: which state the state machine enters next. */
export type NextStep =
  /** The provider has finished and produced something: store it. */
  | { next: 'store' }
  /** The provider was too busy for a call: make it again after this many whole seconds. */
  | { next: 'retry'; waitSeconds: number }
  /** The provider's route is full: queue at this route until the request's turn comes, at most this many whole seconds. */
  | ({ next: 'queue'; timeoutSeconds: number } & QueuePosition)
  /** A task is unfinished: wait for the provider, at most this many whole seconds. */
  | { next: 'wait'; timeoutSeconds: number }
  /** Nothing was produced: fail the request with this error and refund it. Or the request has failed with it. */
  | { next: 'fail'; error: Failure }
  /** The request has succeeded, or is deleted. */
  | { next: 'stop' };

/**
 * The steps that end a wait under a task token. Who ends it does not know the definition of the execution, so these are the same in
 * every release.
 */
export type FinalStep = Extract<NextStep, { next: 'store' | 'fail' | 'stop' }>;

/** The step of an execution whose request was ended elsewhere or deleted. The execution ends with the same outcome as the request. */
export const stepWhenEnded = (
  request: { status: string; error?: Failure | undefined } | undefined,
): FinalStep =>
  request?.status === 'failed'
    ? { next: 'fail', error: request.error ?? UNEXPECTED_ERROR }
    : { next: 'stop' };

/** The failure of a call that is unfinished at the request's deadline. */
const DEADLINE_FAILURE: Failure = {
  code: 'provider_timeout',
  message: 'The upstream provider did not finish in time.',
};

/** The failure of a call that the provider was too busy for until the request's deadline. */
export const PROVIDER_BUSY: Failure = {
  code: 'provider_error',
  message: 'The upstream provider did not take the request.',
};

/** The failure of a task whose state the provider refuses to report: our credential or account, not slowness. */
export const TASK_REFUSED: Failure = {
  code: 'provider_error',
  message: 'The upstream provider does not report the state of the request.',
};

/** The next step once every planned call was made: wait until the deadline while a task is open. */
export const stepAfterCalls = (
  attempts: readonly ProviderAttempt[],
  deadline: Instant,
  now: Date,
): NextStep => {
  if (!hasOpenTask(attempts)) return stepWhenFinished(attempts);
  const secondsLeft = Math.max(1, Math.ceil((Date.parse(deadline) - now.getTime()) / 1000));
  return { next: 'wait', timeoutSeconds: secondsLeft + 1 };
};

/**
 * The next step once every task has finished, or the deadline has passed: store if there is any output, else fail. An open task
 * counts as timed out, or as refused if the provider refused to report its state; a busy call counts as not taken. A content
 * decision takes precedence over other failures. A timeout is reported last when the provider was busy or refused us, so that no
 * end-user is paused for a fault of ours. Throws when there is no call.
 */
export const stepWhenFinished = (attempts: readonly ProviderAttempt[]): FinalStep => {
  if (producedOutputs(attempts).length > 0) return { next: 'store' };
  const failures = attempts.flatMap(failuresOf);
  const isNotSlow = attempts.some((attempt) => isBusyAttempt(attempt) || isRefusedTask(attempt));
  const error =
    failures.find(({ code }) => code === 'content_policy') ??
    failures.find(({ code }) => !isNotSlow || code !== 'provider_timeout');
  if (!error) throw new Error('There is no provider call.');
  return { next: 'fail', error };
};

/** Whether the provider refused to report the state of an open task when it was last queried. */
const isRefusedTask = ({ outcome, refusedAt }: ProviderAttempt): boolean =>
  outcome?.kind === 'accepted' && refusedAt !== undefined;

const failuresOf = (attempt: ProviderAttempt): Failure[] => {
  const { outcome } = attempt;
  switch (outcome?.kind) {
    case 'failed':
    case 'lost':
      return [outcome.failure];
    case 'done':
      return outcome.outputs.flatMap((output) => ('failure' in output ? [output.failure] : []));
    case 'busy':
      return [PROVIDER_BUSY];
    case 'unreadable':
      return [UNEXPECTED_ERROR];
    default:
      return [isRefusedTask(attempt) ? TASK_REFUSED : DEADLINE_FAILURE];
  }
};

/** The deadline of a request by its kind and first provider call: an unfinished request then fails. */
export const deadlineOf = (
  { kind, firstCallAt: from }: { kind: RequestKind; firstCallAt: Instant },
  { deadlineSeconds }: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => addSeconds(from, deadlineSeconds[kind]);

/** Outputs have at least this long to be stored, however near the deadline, or long after it, storing begins. */
const MIN_STORING_SECONDS = 900;

/** The end of the time for storing outputs: the request's deadline, or 15 min after the first storing run, at `since`. */
export const storingEndOf = (
  kind: RequestKind,
  attempts: readonly ProviderAttempt[],
  since: Instant,
  settings: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => {
  const end = addSeconds(since, MIN_STORING_SECONDS);
  const from = firstCallAt(attempts);
  return from === undefined ? end : later(end, deadlineOf({ kind, firstCallAt: from }, settings));
};
