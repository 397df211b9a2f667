/** Counts calls by key: each call of `next` answers how often that key was asked before. */
export type CallCounter = { next(key: string): number };

/**
 * A counter that remembers at most `capacity` keys and forgets the one that was longest not asked for, so that a long
 * run with ever new prompts does not grow without end.
 */
export const createCallCounter = (capacity = 10_000): CallCounter => {
  const counts = new Map<string, number>();
  return {
    next(key) {
      const count = counts.get(key) ?? 0;
      counts.delete(key);
      counts.set(key, count + 1);
      if (counts.size > capacity) {
        const [longestUnused = key] = counts.keys();
        counts.delete(longestUnused);
      }
      return count;
    },
  };
};
