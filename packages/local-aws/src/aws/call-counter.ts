/** Counts calls by caller and `service:Operation`. */
export interface CallCounter {
  add(principalName: string, call: string): void;
  /** A copy of the counts: principal name, then `service:Operation`. */
  counts(): Record<string, Record<string, number>>;
}

/** A counter at zero. */
export const createCallCounter = (): CallCounter => {
  const byPrincipal = new Map<string, Map<string, number>>();
  return {
    add(principalName, call) {
      const calls = byPrincipal.get(principalName) ?? new Map<string, number>();
      byPrincipal.set(principalName, calls.set(call, (calls.get(call) ?? 0) + 1));
    },
    counts: () =>
      Object.fromEntries([...byPrincipal].map(([name, calls]) => [name, Object.fromEntries(calls)])),
  };
};
