import { setTimeout as wait } from 'node:timers/promises';
import type { Directives } from './directives.ts';

/** Never resolves. Rejects with the signal's reason when it is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

/** The answer to a creation, held back for the seconds of `[hang=…]`. Rejects when the signal is aborted meanwhile. */
export const heldBack = <Answer>(
  answer: Answer,
  { hangSeconds }: Directives,
  signal: AbortSignal,
): Answer | Promise<Answer> => (hangSeconds > 0 ? wait(hangSeconds * 1000, answer, { signal }) : answer);

/**
 * Holds a synchronous call for `[delay=…]` seconds, or forever under `[fail=timeout]`. Rejects when the signal is
 * aborted, that is, when the client disconnects.
 */
export const pretendToWork = async (directives: Directives, signal: AbortSignal): Promise<void> => {
  const { fail, delaySeconds = 0 } = directives;
  if (fail === 'timeout') await untilAborted(signal);
  if (delaySeconds > 0) await wait(delaySeconds * 1000, undefined, { signal });
  await heldBack(undefined, directives, signal);
};
