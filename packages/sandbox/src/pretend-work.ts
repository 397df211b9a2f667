import { setTimeout as wait } from 'node:timers/promises';
import type { Directives } from './directives.ts';

/** Never resolves; rejects with the signal's reason once it is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

/**
 * Takes the time a synchronous call is asked to take: `[delay=…]` seconds, or for ever under `[fail=timeout]`. Rejects
 * when the signal is aborted, so that nothing waits for a client that has gone.
 */
export const pretendToWork = async (
  { fail, delaySeconds = 0 }: Directives,
  signal: AbortSignal,
): Promise<void> => {
  if (fail === 'timeout') await untilAborted(signal);
  if (delaySeconds > 0) await wait(delaySeconds * 1000, undefined, { signal });
};
