import type { WorkflowSettings } from '../environment.ts';
import type { Failure } from '../errors.ts';
import { deadlineOf, type NextStep, PROVIDER_BUSY, type QueuePosition } from '../executions/step-rules.ts';
import type { RequestKind } from '../ids.ts';
import { isMovable, latestAttempts, repeatableAt } from '../provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant } from '../time.ts';

/** A provider that cannot be reached is called so often, and for so long, before the request goes elsewhere. */
const UNREACHED_TRIES = 3;
const UNREACHED_MS = 30_000;
/** How long a request waits for a provider that is too busy. */
const THROTTLED_MS = 120_000;

/**
 * Why a request leaves its route, in words for an operator; undefined while it stays. It leaves only while every call there may
 * be made at another one. `here` are all its attempts at the route.
 */
export const whyLeaving = (here: readonly ProviderAttempt[], now: Date): string | undefined => {
  if (!here.every(isMovable)) return undefined;
  const sinceMs = now.getTime() - Math.min(...here.map(({ startedAt }) => Date.parse(startedAt)));
  for (const { call, outcome } of latestAttempts(here)) {
    if (outcome?.kind === 'failed')
      return outcome.obstacle === 'quota' ? 'our quota is used up' : 'it refused us';
    if (outcome?.kind !== 'busy') continue;
    const isUnreached = outcome.obstacle === 'unreached';
    const tries = here.filter((attempt) => attempt.call === call).length;
    if (isUnreached && (tries >= UNREACHED_TRIES || sinceMs >= UNREACHED_MS)) return 'it was not reached';
    if (sinceMs >= THROTTLED_MS)
      return isUnreached ? 'it was not reached' : 'it was too busy for two minutes';
  }
  return undefined;
};

/** The failure of a request whose turn at its provider did not come in time. */
const QUEUE_FAILURE: Failure = {
  code: 'provider_timeout',
  message: 'The upstream provider had no capacity in time.',
};

/**
 * The step of a request that finds its route full: wait there until it is too late, counted from its creation before its
 * first call, else from that.
 */
export const stepWhileFull = (
  { kind, createdAt }: { kind: RequestKind; createdAt: Instant },
  dispatchedAt: Instant | undefined,
  place: QueuePosition,
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
