const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis;

/** The limit on one attempt, which is no pause. */
const ATTEMPT_MS = 35_000;

/**
 * Notes the pauses that the client makes, in milliseconds, and its timers that are still set. With `quick` a pause is over at once,
 * so that no test waits for one.
 */
export const watchTimers = ({ quick = true } = {}) => {
  const pauses: number[] = [];
  const open = new Set<unknown>();
  const set = (run: () => void, milliseconds = 0) => {
    // Shorter ones are not the client's.
    const isPause = milliseconds >= 1_000 && milliseconds !== ATTEMPT_MS;
    if (isPause) pauses.push(milliseconds);
    const timer = realSetTimeout(
      () => {
        open.delete(timer);
        run();
      },
      isPause && quick ? 0 : milliseconds,
    );
    if (isPause || milliseconds === ATTEMPT_MS) open.add(timer);
    return timer;
  };
  globalThis.setTimeout = set as typeof globalThis.setTimeout;
  globalThis.clearTimeout = ((timer: Parameters<typeof realClearTimeout>[0]) => {
    open.delete(timer);
    realClearTimeout(timer);
  }) as typeof globalThis.clearTimeout;
  return { pauses, open: () => open.size };
};

/** Ends what `watchTimers` began. */
export const restoreTimers = (): void => {
  globalThis.setTimeout = realSetTimeout;
  globalThis.clearTimeout = realClearTimeout;
};
