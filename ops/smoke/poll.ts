/** Looks until something is found, at most so long; undefined when it never was. */
export const poll = async <T>(
  smoke: { pause(milliseconds: number): Promise<void> },
  { everySeconds, forSeconds }: { everySeconds: number; forSeconds: number },
  check: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  for (let waited = 0; ; waited += everySeconds) {
    const found = await check();
    if (found !== undefined || waited >= forSeconds) return found;
    await smoke.pause(everySeconds * 1000);
  }
};
