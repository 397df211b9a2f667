import { sleep } from '../time.ts';

/** Attempts on contended items before the caller gets 429, however fast they are refused. */
export const MAX_CONTENDED_ATTEMPTS = 240;

/** Waits after the table itself was too busy: full jitter, base 25 ms, doubling per attempt, capped at 250 ms. */
export const waitForTable = (attempt: number): Promise<void> =>
  sleep(Math.random() * Math.min(250, 25 * 2 ** attempt));

/** Waits after `losses` lost tries for an item, the first of them `elapsedMs` ago: full jitter. */
export const waitForItem = (patience: Patience, losses: number, elapsedMs: number): Promise<void> =>
  sleep(Math.random() * patience.longestWaitMs(losses, elapsedMs));

/** Whether the SDK had tried the call before the try that failed with this error. */
export const wasTriedBefore = (error: unknown): boolean =>
  ((error as { $metadata?: { attempts?: number } } | undefined)?.$metadata?.attempts ?? 1) > 1;

/** The patience of a writer of contended items: the time for all attempts, and the waits after losses. */
export interface Patience {
  /** Time for all tries, in milliseconds. */
  budgetMs: number;
  /** The longest wait after the given number of losses, counted from 1, `elapsedMs` after the first try. */
  longestWaitMs: (losses: number, elapsedMs: number) => number;
}

/**
 * The patience of a writer whose caller waits, as for a creation: 5 s of the 29 s of an API call. A loser reads the items again
 * and retries within 24 ms, about as long as a transaction may hold the items. An earlier retry only pays for another refusal; a
 * later retry loses to other writers. The numbers do best in a model of one account (docs/performance.md).
 */
export const CALLER_PATIENCE: Patience = { budgetMs: 5_000, longestWaitMs: () => 24 };

/** The first loss of a settlement is most often to a single creation. */
const FIRST_SETTLEMENT_WAIT_MS = 500;
const LONGEST_SETTLEMENT_WAIT_MS = 4_000;
const SHORTEST_SETTLEMENT_WAIT_MS = 200;
/** Age at which a settlement stops yielding to creations. */
const SETTLEMENT_DUE_MS = 20_000;

/**
 * The patience of a settlement, which yields to creations: no connection waits for a refund. Retries seldom at first, so that
 * hundreds of refunds at once leave turns for the account's creations, and more often with age. 25 s are within the 30 s of the
 * functions that settle.
 */
export const SETTLEMENT_PATIENCE: Patience = {
  budgetMs: 25_000,
  longestWaitMs: (losses, elapsedMs) =>
    losses === 1
      ? FIRST_SETTLEMENT_WAIT_MS
      : Math.max(
          SHORTEST_SETTLEMENT_WAIT_MS,
          LONGEST_SETTLEMENT_WAIT_MS * (1 - elapsedMs / SETTLEMENT_DUE_MS),
        ),
};
