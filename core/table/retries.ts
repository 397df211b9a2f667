/** Attempts of a batch that the table leaves unprocessed, before the caller gets 429. */
export const MAX_ATTEMPTS = 60;

/**
 * Attempts on contended items before the caller gets 429. Creations of one account run one after another, so of
 * 40 at once the last may lose dozens of times with nothing wrong. Measured in docs/benchmarks.md.
 */
export const MAX_CONTENDED_ATTEMPTS = 240;

/** The time for those attempts, in milliseconds: well inside the 29 s of an API call. */
export const CONTENTION_BUDGET_MS = 10_000;

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits after the table itself was too busy: full jitter, base 25 ms, doubling per attempt, capped at 250 ms. */
export const waitForTable = (attempt: number): Promise<void> =>
  sleep(Math.random() * Math.min(250, 25 * 2 ** attempt));

/**
 * Waits after a conflict on an item: full jitter over 16 ms, twice the roughly 8 ms that a transaction holds
 * its items. Waiting longer makes our balance stale, so we lose again.
 */
export const waitForItem = (): Promise<void> => sleep(Math.random() * 16);

/** Whether the SDK had tried the call before the try that failed with this error. */
export const wasTriedBefore = (error: unknown): boolean =>
  ((error as { $metadata?: { attempts?: number } } | undefined)?.$metadata?.attempts ?? 1) > 1;
