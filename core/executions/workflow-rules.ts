import type { PlaceInQueue } from '../admission/admission.ts';
import type { Failure } from '../errors.ts';
import type { RequestKind } from '../ids.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderOutput } from '../provider-calls/providers.ts';
import { addSeconds, type Instant } from '../time.ts';

/** Statuses of an execution that ended without completing. Step Functions reports them, and the reconciler repairs. */
export const LOST_STATUSES = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;

/** The result of a workflow step: which state the state machine enters next. */
export type NextStep =
  /** The provider has finished and produced something: store it. */
  | { next: 'store' }
  /** The provider was too busy for a call: make it again after this many whole seconds. */
  | { next: 'retry'; waitSeconds: number }
  /** The provider's route is full: wait at this gate until the request's turn comes, at most this many whole seconds. */
  | ({ next: 'queue'; timeoutSeconds: number } & PlaceInQueue)
  /**
   * A task is unfinished: wait for the provider, at most this many whole seconds. Executions that began under an earlier definition
   * read `waitSeconds` too, as their heartbeat.
   */
  | { next: 'wait'; timeoutSeconds: number; waitSeconds: number }
  /** Nothing was produced: fail the request with this error and refund it. */
  | { next: 'fail'; error: Failure }
  /** The request is terminal or deleted. */
  | { next: 'stop' };

/** The deployment's settings that the rules need. */
export interface WorkflowSettings {
  /** Seconds from the first call to a provider until an unfinished request fails. */
  deadlineSeconds: Record<RequestKind, number>;
  /** Seconds from its creation until a request that was never dispatched fails. */
  queueDeadlineSeconds: number;
  /** Shortest pause between two queries of a task, in seconds. */
  pollIntervalSeconds: number;
}

/** The failure of a call that is unfinished at the request's deadline. */
export const DEADLINE_FAILURE: Failure = {
  code: 'provider_timeout',
  message: 'The upstream provider did not finish in time.',
};

/** The failure of a request whose turn at its provider did not come in time. */
const QUEUE_FAILURE: Failure = {
  code: 'provider_timeout',
  message: 'The upstream provider had no capacity in time.',
};

/** The failure of a call that the provider was too busy for until the request's deadline. */
const PROVIDER_BUSY: Failure = {
  code: 'provider_error',
  message: 'The upstream provider did not take the request.',
};

/** The failure of a task whose state the provider refuses to tell: our credential or account, not slowness. */
export const TASK_REFUSED: Failure = {
  code: 'provider_error',
  message: 'The upstream provider does not tell the state of the request.',
};

/** The kind of a request's outputs, and when its first provider call began. */
export interface FirstCall {
  kind: RequestKind;
  firstCallAt: Instant;
}

/** When a request's first provider call began, from all its attempts; undefined before it. */
export const firstCallAt = (attempts: readonly ProviderAttempt[]): Instant | undefined =>
  attempts.map(({ startedAt }) => startedAt).sort()[0];

/** When a request fails if it is still unfinished. */
export const deadlineOf = (
  { kind, firstCallAt: from }: FirstCall,
  { deadlineSeconds }: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => addSeconds(from, deadlineSeconds[kind]);

/**
 * The step of a request that finds its route full: wait there until it is too late, counted from its creation before its
 * first call, else from that.
 */
export const stepWhileFull = (
  { kind, createdAt }: { kind: RequestKind; createdAt: Instant },
  dispatchedAt: Instant | undefined,
  place: PlaceInQueue,
  settings: Pick<WorkflowSettings, 'deadlineSeconds' | 'queueDeadlineSeconds'>,
  now: Date,
): NextStep => {
  const end =
    dispatchedAt === undefined
      ? addSeconds(createdAt, settings.queueDeadlineSeconds)
      : deadlineOf({ kind, firstCallAt: dispatchedAt }, settings);
  const leftSeconds = (Date.parse(end) - now.getTime()) / 1000;
  if (leftSeconds <= 0)
    return { next: 'fail', error: dispatchedAt === undefined ? QUEUE_FAILURE : PROVIDER_BUSY };
  return { next: 'queue', timeoutSeconds: Math.ceil(leftSeconds), ...place };
};

/** Outputs have at least this long to be stored, however near the deadline they were produced. */
const MIN_STORING_SECONDS = 900;

/** Until when storing outputs is retried: the request's deadline, or 15 min after the last call finished. */
export const storingEndOf = (
  kind: RequestKind,
  attempts: readonly ProviderAttempt[],
  settings: Pick<WorkflowSettings, 'deadlineSeconds'>,
): Instant => {
  const ends = attempts.map(({ startedAt, finishedAt = startedAt }) =>
    addSeconds(finishedAt, MIN_STORING_SECONDS),
  );
  const from = firstCallAt(attempts);
  if (from !== undefined) ends.push(deadlineOf({ kind, firstCallAt: from }, settings));
  return ends.sort().at(-1) ?? '';
};

/** The latest attempt of each planned call, by the call's index. `attempts` are in the order they were made. */
export const latestAttempts = (attempts: readonly ProviderAttempt[]): Map<number, ProviderAttempt> =>
  new Map(attempts.map((attempt) => [attempt.call, attempt]));

/** Every output that has a URL, in plan order. The position in this list is the output's index. */
export const producedOutputs = (attempts: Iterable<ProviderAttempt>): { url: string }[] =>
  [...attempts].flatMap(({ outcome }) => (outcome?.kind === 'done' ? outcome.outputs.filter(hasUrl) : []));

const hasUrl = (output: ProviderOutput): output is { url: string } => 'url' in output;

/** The next step once every planned call was made: wait until the deadline while a task is open. */
export const stepAfterCalls = (
  attempts: readonly ProviderAttempt[],
  deadline: Instant,
  now: Date,
): NextStep => {
  if (!hasOpenTask(attempts)) return stepWhenFinished(attempts);
  const waitSeconds = Math.max(1, Math.ceil((Date.parse(deadline) - now.getTime()) / 1000));
  return { next: 'wait', timeoutSeconds: waitSeconds + 1, waitSeconds };
};

/** Whether any call is being made, or was accepted as a task that is not known to have finished. */
export const hasOpenTask = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.some(({ outcome }) => outcome === undefined || outcome.kind === 'accepted');

/** Whether the provider has accepted or finished any call. */
export const isAccepted = (attempts: readonly ProviderAttempt[]): boolean =>
  attempts.some(({ taskId, outcome }) => taskId !== undefined || outcome?.kind === 'done');

/**
 * The next step once every task has finished, or the deadline has passed: store if there is any output, else
 * fail. An open task counts as timed out, or as refused if the provider refused to report its state; a busy
 * call counts as not taken. A content decision takes precedence over any other failure; a timeout yields when
 * the provider was busy or refused us, so that no end-user is paused for it. Throws when there is no call.
 */
export const stepWhenFinished = (attempts: readonly ProviderAttempt[]): NextStep => {
  if (producedOutputs(attempts).length > 0) return { next: 'store' };
  const failures = attempts.flatMap(failuresOf);
  const isNotSlow = attempts.some((attempt) => isBusyAttempt(attempt) || isRefusedTask(attempt));
  const error =
    failures.find(({ code }) => code === 'content_policy') ??
    failures.find(({ code }) => !isNotSlow || code !== 'provider_timeout');
  if (!error) throw new Error('There is no provider call.');
  return { next: 'fail', error };
};

/** Whether the provider refused to tell the state of an open task when it was last queried. */
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
    default:
      return [isRefusedTask(attempt) ? TASK_REFUSED : DEADLINE_FAILURE];
  }
};

/** Whether the provider was too busy for a call. */
export const isBusyAttempt = ({ outcome }: ProviderAttempt): boolean => outcome?.kind === 'busy';

/** When a call that the provider was too busy for may be made again: after its `Retry-After`, else at once. */
export const repeatableAt = ({ finishedAt, startedAt, outcome }: ProviderAttempt): Instant =>
  addSeconds(finishedAt ?? startedAt, outcome?.kind === 'busy' ? (outcome.retryAfterSeconds ?? 0) : 0);

/** Longest pause before a busy provider is called again, unless its own `Retry-After` is longer. */
const MAX_BUSY_SECONDS = 30;

/**
 * The step that waits for a busy provider until every call may be made again, but never beyond the deadline.
 * The shortest wait is 1, 2, 4 and so on up to 30 s, with up to half of it taken off at random. `random` is
 * from 0 to 1.
 */
export const stepWhileBusy = (
  busy: readonly ProviderAttempt[],
  deadline: Instant,
  now: Date,
  random: number,
): NextStep & { next: 'retry' } => {
  const secondsUntil = (instant: Instant): number => (Date.parse(instant) - now.getTime()) / 1000;
  const round = Math.max(...busy.map(({ attempt }) => attempt));
  const backoffSeconds = Math.min(MAX_BUSY_SECONDS, 2 ** round) * (1 - random / 2);
  const wantedSeconds = Math.max(
    backoffSeconds,
    ...busy.map((attempt) => secondsUntil(repeatableAt(attempt))),
  );
  return {
    next: 'retry',
    waitSeconds: Math.max(1, Math.ceil(Math.min(wantedSeconds, secondsUntil(deadline)))),
  };
};

/** Longest pause between two queries of a task. */
const MAX_LOOK_SECONDS = 15;
/** A pause is this share of the task's age, so that a result is at most 5 % late once a task is older than 40 s. */
const LOOK_SHARE = 1 / 20;

/**
 * When to query an unfinished task next, in epoch milliseconds: after a twentieth of its age, at least `pollIntervalSeconds` and at most
 * 15 s, and not before the provider's `Retry-After`.
 */
export const nextQueryMs = (
  firstCallAt: Instant,
  notBefore: Instant | undefined,
  { pollIntervalSeconds }: Pick<WorkflowSettings, 'pollIntervalSeconds'>,
  now: Date,
): number => {
  const ageSeconds = (now.getTime() - Date.parse(firstCallAt)) / 1000;
  const pauseSeconds = Math.max(pollIntervalSeconds, Math.min(MAX_LOOK_SECONDS, ageSeconds * LOOK_SHARE));
  const heldOffMs = notBefore === undefined ? 0 : Date.parse(notBefore);
  return Math.max(now.getTime() + pauseSeconds * 1000, heldOffMs);
};
