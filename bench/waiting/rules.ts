/** A request as its caller and its provider recorded it. All times are epoch milliseconds. */
export interface Served {
  /** Of the model, which has a route of its own. */
  model: string;
  /** When its creation was answered. */
  acceptedAt: number;
  /** When the provider got its call. */
  calledAt: number;
  doneAt: number;
  /** When the provider first answered a query with the task done. */
  reportedAt: number;
  /** When the output was first fetched. */
  fetchedAt: number;
  queries: number;
}

/** The value that this share of the values does not exceed; NaN without values. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

/** The most instants within one second. */
export const mostInSecond = (instants: readonly number[]): number => {
  const sorted = instants.toSorted((a, b) => a - b);
  let [most, first] = [0, 0];
  for (const [index, at] of sorted.entries()) {
    while ((sorted[first] as number) <= at - 1_000) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
};

/**
 * For each permit that became free while a request of its route waited: milliseconds until the next call there. A permit is free from
 * the answer that reports its task done. Permits are used in the order in which they become free.
 */
export const freePermits = (served: readonly Served[], permits: number): number[] =>
  Object.values(Object.groupBy(served, ({ model }) => model)).flatMap((route = []) => {
    const events = route
      .flatMap(({ acceptedAt, calledAt, reportedAt }) => [
        { at: acceptedAt, kind: 'accepted' as const },
        { at: calledAt, kind: 'called' as const },
        { at: reportedAt, kind: 'freed' as const },
      ])
      .toSorted((a, b) => a.at - b.at);
    const free = Array.from({ length: permits }, () => 0);
    let waiting: number[] = [];
    const gaps: number[] = [];
    for (const { at, kind } of events) {
      if (kind === 'accepted') waiting.push(at);
      else if (kind === 'freed') free.push(at);
      else {
        const freedAt = free.shift() ?? at;
        const [longest = at] = waiting;
        if (freedAt > longest) gaps.push(at - freedAt);
        waiting = waiting.slice(1);
      }
    }
    return gaps;
  });
