const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis;

/** The limit on one attempt unless told otherwise, which is no pause. */
const ATTEMPT_SECONDS = 35;

/**
 * Notes the pauses that the client makes, in milliseconds, and its timers that are still set. With `quick` a pause is over at once,
 * so that no test waits for one. `endAttempts` lets the limit on an attempt be reached now.
 */
export const watchTimers = ({ quick = true, attemptSeconds = ATTEMPT_SECONDS } = {}) => {
  const pauses: number[] = [];
  const attempts = new Map<unknown, () => void>();
  const open = new Set<unknown>();
  const set = (run: () => void, milliseconds = 0) => {
    // Shorter ones are not the client's.
    const isPause = milliseconds >= 1_000 && milliseconds !== attemptSeconds * 1000;
    if (isPause) pauses.push(milliseconds);
    const timer = realSetTimeout(
      () => {
        open.delete(timer);
        attempts.delete(timer);
        run();
      },
      isPause && quick ? 0 : milliseconds,
    );
    if (milliseconds === attemptSeconds * 1000) attempts.set(timer, run);
    if (isPause || attempts.has(timer)) open.add(timer);
    return timer;
  };
  globalThis.setTimeout = set as typeof globalThis.setTimeout;
  globalThis.clearTimeout = ((timer: Parameters<typeof realClearTimeout>[0]) => {
    open.delete(timer);
    attempts.delete(timer);
    realClearTimeout(timer);
  }) as typeof globalThis.clearTimeout;
  const endAttempts = () => {
    for (const run of attempts.values()) run();
  };
  return { pauses, open: () => open.size, endAttempts };
};

/** Ends what `watchTimers` began. */
export const restoreTimers = (): void => {
  globalThis.setTimeout = realSetTimeout;
  globalThis.clearTimeout = realClearTimeout;
};
