import { isTransient } from './transient-errors.ts';

/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 2_000;

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Repeats work that must not be given up at the first transient error, with full jitter, base 100 ms, doubling up
 * to 2 s. Rethrows any other error at once, and a transient one when `hasTime` is false.
 */
export const keepTrying = async <T>(work: () => Promise<T>, hasTime: () => boolean): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || !hasTime()) throw error;
      await sleep(Math.random() * Math.min(MAX_PAUSE_MS, 100 * 2 ** attempt));
    }
  }
};
