import { setTimeout as sleep } from 'node:timers/promises';

import { MAX_TIMER_SECONDS } from './prepare-state.ts';
import { FatalTaskError } from './types.ts';

/** RFC 3339 as ASL takes it: with `T`, and `Z` or an offset. https://states-language.net/spec.html#timestamps */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const instantOf = (timestamp: unknown): number =>
  TIMESTAMP.test(String(timestamp)) ? Date.parse(String(timestamp)) : Number.NaN;

/**
 * Waits as a Wait state does, for `seconds` or until `timestamp` (RFC 3339), however long; returns early when `signal` is aborted. Throws
 * `States.Runtime` unless it is given a whole number or an instant.
 */
export const pause = async (
  { seconds, timestamp }: { seconds?: unknown; timestamp?: unknown },
  signal: AbortSignal,
): Promise<void> => {
  const until = timestamp === undefined ? Date.now() + Number(seconds) * 1_000 : instantOf(timestamp);
  if (
    Number.isNaN(until) ||
    (timestamp === undefined && !(Number.isInteger(seconds) && Number(seconds) >= 0))
  ) {
    throw new FatalTaskError('States.Runtime', `A Wait state cannot wait for ${seconds ?? timestamp}`);
  }
  for (let left = until - Date.now(); left > 0 && !signal.aborted; left = until - Date.now()) {
    // An aborted sleep rejects; the loop then ends.
    await sleep(Math.min(left, MAX_TIMER_SECONDS * 1_000), undefined, { signal }).catch(() => undefined);
  }
};
