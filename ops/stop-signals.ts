/** A second signal that comes sooner is the first again: a terminal sends Ctrl-C to npm and to its program, and npm forwards its own. */
const SAME_SIGNAL_MILLISECONDS = 500;

/** Calls `stop` at the first SIGINT or SIGTERM, and `stopNow` at a later signal. */
export const onStopSignals = (stop: () => unknown, stopNow: () => unknown): void => {
  let stoppedAt: number | undefined;
  const receive = (): void => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      stop();
    } else if (performance.now() - stoppedAt > SAME_SIGNAL_MILLISECONDS) stopNow();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, receive);
};
