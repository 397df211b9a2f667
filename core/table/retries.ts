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

/** How long a writer keeps trying for items that others write too, and how it waits after losing them. */
export interface Patience {
  /** Time for all tries, in milliseconds. */
  budgetMs: number;
  /** The longest wait after the given number of losses, counted from 1, `elapsedMs` after the first try. */
  longestWaitMs: (losses: number, elapsedMs: number) => number;
}

/**
 * Of a writer whose caller waits, as for a creation: 5 s of the 29 s of an API call. A loser reads the items again and comes back
 * within 24 ms, about as long as a transaction may hold them: sooner it only pays for another refusal, later others are before it.
 * The numbers do best in a model of one account (docs/performance.md).
 */
export const CALLER_PATIENCE: Patience = { budgetMs: 5_000, longestWaitMs: () => 24 };

/** The first loss of a settlement is most often to a single creation. */
const FIRST_SETTLEMENT_WAIT_MS = 500;
const LONGEST_SETTLEMENT_WAIT_MS = 4_000;
const SHORTEST_SETTLEMENT_WAIT_MS = 200;
/** Until then a settlement makes room, and from then on none. */
const SETTLEMENT_DUE_MS = 20_000;

/**
 * Of a settlement, which yields to creations: no connection waits for a refund. It retries seldom at first,
 * so that hundreds of refunds at once leave turns for the account's creations, and more often as it ages. 25
 * s are within the 30 s of the functions that settle.
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
