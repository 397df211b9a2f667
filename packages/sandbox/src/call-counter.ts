/** Counts calls by key. `next` returns how often it was called with that key before. */
export type CallCounter = { next(key: string): number };

/**
 * Creates a counter of at most `capacity` keys. It evicts the least recently used key, so a long run with many prompts
 * does not leak memory.
 */
export const createCallCounter = (capacity = 10_000): CallCounter => {
  const counts = new Map<string, number>();
  return {
    next(key) {
      const count = counts.get(key) ?? 0;
      counts.delete(key);
      counts.set(key, count + 1);
      if (counts.size > capacity) {
        const [leastRecentlyUsed = key] = counts.keys();
        counts.delete(leastRecentlyUsed);
      }
      return count;
    },
  };
};
