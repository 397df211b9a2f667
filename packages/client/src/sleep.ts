import { AbortedError } from './errors.ts';

/** Waits; leaves neither timer nor listener. Rejects with `AbortedError` as soon as the signal aborts. */
export const sleep = (
  milliseconds: number,
  signal: AbortSignal | undefined,
  idempotencyKey?: string,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(abortedBy(signal, idempotencyKey));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, milliseconds);
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });

/** The error of a call that this signal aborted. */
export const abortedBy = (signal: AbortSignal | undefined, idempotencyKey?: string): AbortedError =>
  new AbortedError('The call was aborted.', { cause: signal?.reason, idempotencyKey });

/** About this many milliseconds: up to a tenth more or less, so that callers spread out. */
export const jittered = (milliseconds: number): number => milliseconds * (0.9 + 0.2 * Math.random());
