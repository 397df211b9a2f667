import { setTimeout as sleep } from 'node:timers/promises';

import { MAX_TIMER_SECONDS } from './prepare-state.ts';
import { FatalTaskError } from './types.ts';

/**
 * Waits as a Wait state does, for `seconds` or until `timestamp` (ISO 8601), however far off; returns at once when `signal` is aborted.
 * Throws `States.Runtime` when it is given neither a whole number nor an instant.
 */
export const pause = async (
  { seconds, timestamp }: { seconds?: unknown; timestamp?: unknown },
  signal: AbortSignal,
): Promise<void> => {
  const until =
    timestamp === undefined ? Date.now() + Number(seconds) * 1_000 : Date.parse(String(timestamp));
  if (
    Number.isNaN(until) ||
    (timestamp === undefined && !(Number.isInteger(seconds) && Number(seconds) >= 0))
  ) {
    throw new FatalTaskError('States.Runtime', `A Wait state cannot wait for ${seconds ?? timestamp}`);
  }
  for (let left = until - Date.now(); left > 0 && !signal.aborted; left = until - Date.now()) {
    // An aborted sleep rejects; the loop then ends by itself.
    await sleep(Math.min(left, MAX_TIMER_SECONDS * 1_000), undefined, { signal }).catch(() => undefined);
  }
};
