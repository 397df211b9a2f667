import type { Patience } from './retry-rules.ts';

/** Attempts of a batch that the table leaves unprocessed, before the caller gets 429. */
export const MAX_ATTEMPTS = 60;

/** Attempts on contended items before the caller gets 429, however fast they are refused. */
export const MAX_CONTENDED_ATTEMPTS = 240;

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits after the table itself was too busy: full jitter, base 25 ms, doubling per attempt, capped at 250 ms. */
export const waitForTable = (attempt: number): Promise<void> =>
  sleep(Math.random() * Math.min(250, 25 * 2 ** attempt));

/** Waits after `losses` lost tries for an item, the first of them `elapsedMs` ago: full jitter. */
export const waitForItem = (patience: Patience, losses: number, elapsedMs: number): Promise<void> =>
  sleep(Math.random() * patience.longestWaitMs(losses, elapsedMs));

/** Whether the SDK had tried the call before the try that failed with this error. */
export const wasTriedBefore = (error: unknown): boolean =>
  ((error as { $metadata?: { attempts?: number } } | undefined)?.$metadata?.attempts ?? 1) > 1;
