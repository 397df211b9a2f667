/**
 * Answers what `read` last found for `seconds`, then reads again. The age counts from the `now` of the call that read, so a change
 * made before a call takes effect within `seconds`. A failed read is not cached.
 */
export const cachedFor = <T>(seconds: number, read: () => Promise<T>): ((now: Date) => Promise<T>) => {
  let cached: { value: T; readAtMs: number } | undefined;
  return async (now) => {
    const nowMs = now.getTime();
    if (!cached || nowMs - cached.readAtMs >= seconds * 1000)
      cached = { value: await read(), readAtMs: nowMs };
    return cached.value;
  };
};
