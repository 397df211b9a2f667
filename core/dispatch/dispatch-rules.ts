import type { WorkflowSettings } from '../environment.ts';
import type { Failure } from '../errors.ts';
import { deadlineOf, type NextStep, PROVIDER_BUSY, type QueuePosition } from '../executions/step-rules.ts';
import type { RequestKind } from '../ids.ts';
import { isMovable, isThrottled, latestAttempts, repeatableAt } from '../provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { RouteState } from '../route-pauses/pause-rules.ts';
import { addSeconds, type Instant } from '../time.ts';

/** Attempts and time for an unreachable provider before the request changes route. */
const UNREACHED_TRIES = 3;
const UNREACHED_MS = 30_000;
/** Time that a request stays at a throttling route before it changes route. */
const THROTTLED_MS = 120_000;

/** The start of a request's time at a route that accepted no call yet: the first attempt. */
const firstStartMs = (attempts: readonly ProviderAttempt[]): number =>
  Math.min(...attempts.map(({ startedAt }) => Date.parse(startedAt)));

/**
 * Why a request leaves its route, in words for an operator; undefined while it stays. It leaves only while every call of its assignment may be
 * made at another route. `current` are all its attempts under that assignment. A route that has been too busy for two minutes already is left
 * at once.
 */
export const leaveReason = (
  current: readonly ProviderAttempt[],
  state: RouteState | undefined,
  now: Date,
): string | undefined => {
  if (!current.every(isMovable)) return undefined;
  const sinceMs = now.getTime() - firstStartMs(current);
  const busyMs = state?.pauseReason === 'busy' ? now.getTime() - Date.parse(state.pausedAt ?? '') : 0;
  for (const { call, outcome } of latestAttempts(current)) {
    if (outcome?.kind === 'failed')
      return outcome.obstacle === 'quota' ? 'our quota is used up' : 'it refused us';
    if (outcome?.kind !== 'busy') continue;
    const isUnreached = outcome.obstacle === 'unreached';
    const tries = current.filter((attempt) => attempt.call === call).length;
    if (isUnreached && (tries >= UNREACHED_TRIES || sinceMs >= UNREACHED_MS)) return 'it was not reached';
    if (Math.max(sinceMs, isUnreached ? 0 : busyMs) >= THROTTLED_MS)
      return isUnreached ? 'it was not reached' : 'it was too busy for two minutes';
  }
  return undefined;
};

/** The instant at which a request leaves a busy route, if its model has several routes. */
export const leavesAt = (current: readonly ProviderAttempt[]): Date =>
  new Date(firstStartMs(current) + (current.some(isThrottled) ? THROTTLED_MS : UNREACHED_MS));

/** The failure of a request whose turn at its provider did not come in time. */
export const QUEUE_FAILURE: Failure = {
  code: 'provider_timeout',
  message: 'The upstream provider had no capacity in time.',
};

/** The failure of a request that no route in use takes any more. */
export const NO_ROUTE: Failure = {
  code: 'provider_error',
  message: 'No upstream provider takes the request now.',
};

/** The failure of a request with a field that the upstream model of its route is not sent. */
export const notTaken = (field: string): Failure => ({
  code: 'provider_error',
  message: 'The upstream provider refused an input of the request.',
  input: { reason: 'value', field },
});

/** The end of a request's wait for capacity, counted from the first provider call or, without a call, from the creation. */
export const queueEndOf = (
  { kind, createdAt }: { kind: RequestKind; createdAt: Instant },
  firstCallAt: Instant | undefined,
  settings: Pick<WorkflowSettings, 'deadlineSeconds' | 'queueDeadlineSeconds'>,
): Instant =>
  firstCallAt === undefined
    ? addSeconds(createdAt, settings.queueDeadlineSeconds)
    : deadlineOf({ kind, firstCallAt }, settings);

/** The step of a request that queues at a route: wait there until `end`, the instant of `queueEndOf`. */
export const stepWhileFull = (
  position: QueuePosition,
  { end, isDispatched }: { end: Instant; isDispatched: boolean },
  now: Date,
): NextStep => {
  const leftSeconds = (Date.parse(end) - now.getTime()) / 1000;
  if (leftSeconds <= 0) return { next: 'fail', error: isDispatched ? PROVIDER_BUSY : QUEUE_FAILURE };
  return { next: 'queue', timeoutSeconds: Math.ceil(leftSeconds), ...position };
};

/** Longest pause before a busy provider is called again, unless its own `Retry-After` is longer. */
const MAX_BUSY_SECONDS = 30;

/** The step that runs the dispatch again at `at`, after a second at least, but not after `last`. */
export const retryAt = (at: Date, last: Date, now: Date): NextStep & { next: 'retry' } => {
  const seconds = (Math.min(at.getTime(), last.getTime()) - now.getTime()) / 1000;
  return { next: 'retry', waitSeconds: Math.max(1, Math.ceil(seconds)) };
};

/**
 * The step that waits for a busy provider until every call may be made again, but never beyond `last`.
 * The shortest wait is 1, 2, 4 and so on up to 30 s, with up to half of it taken off at random. `random` is
 * from 0 to 1.
 */
export const stepWhileBusy = (
  busy: readonly ProviderAttempt[],
  last: Date,
  now: Date,
  random: number,
): NextStep & { next: 'retry' } => {
  const round = Math.max(...busy.map(({ attempt }) => attempt));
  const backoffMs = Math.min(MAX_BUSY_SECONDS, 2 ** round) * (1 - random / 2) * 1000;
  const wantedMs = Math.max(
    now.getTime() + backoffMs,
    ...busy.map((attempt) => Date.parse(repeatableAt(attempt))),
  );
  return retryAt(new Date(wantedMs), last, now);
};
