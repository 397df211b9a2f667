/** Bounds of the invocations that run at once. Undefined: none. */
export interface ConcurrencyLimits {
  /** Of all functions together, as an account's quota in a region. */
  account?: number | undefined;
  /** Of one function, by name: its reserved concurrency. */
  reserved: ReadonlyMap<string, number>;
}

/** Runs an invocation of a function, or rejects with `TooManyRequestsException` when there is no room for it. */
export type WithConcurrency = <T>(functionName: string, run: () => Promise<T>) => Promise<T>;

const throttled = (reason: string) =>
  Object.assign(new Error(`Rate Exceeded. (${reason})`), { name: 'TooManyRequestsException' });

/**
 * Counts invocations as Lambda does: a function with reserved concurrency has its own room, taken from the account's
 * even while it is idle.
 */
export const createConcurrency = ({ account, reserved }: ConcurrencyLimits): WithConcurrency => {
  const running = new Map<string, number>();
  const taken = [...reserved.values()].reduce((sum, executions) => sum + executions, 0);
  const unreserved = account === undefined ? Number.POSITIVE_INFINITY : account - taken;
  const countOf = (name: string) => running.get(name) ?? 0;
  const runningUnreserved = () =>
    [...running].reduce((sum, [name, count]) => (reserved.has(name) ? sum : sum + count), 0);

  return async (name, run) => {
    const own = reserved.get(name);
    if (own !== undefined && countOf(name) >= own)
      throw throttled('ReservedFunctionConcurrentInvocationLimitExceeded');
    if (own === undefined && runningUnreserved() >= unreserved)
      throw throttled('ConcurrentInvocationLimitExceeded');
    running.set(name, countOf(name) + 1);
    try {
      return await run();
    } finally {
      running.set(name, countOf(name) - 1);
    }
  };
};
