import { isBusyAttempt, latestAttempts } from '../provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { takenOf } from '../provider-calls/taken.ts';

/** A provider that cannot be reached is called so often, and for so long, before the request goes elsewhere. */
const UNREACHED_TRIES = 3;
const UNREACHED_MS = 30_000;
/** How long a request waits for a provider that is too busy. */
const THROTTLED_MS = 120_000;

/**
 * Whether an attempt may be made at another route: it was surely not taken, and not for a reason that is the request's own, such as
 * a content decision.
 */
export const isMovable = (attempt: ProviderAttempt): boolean => {
  const { outcome } = attempt;
  if (outcome?.kind === 'failed') return takenOf(attempt) === 'no' && outcome.obstacle !== undefined;
  return isBusyAttempt(attempt);
};

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
