/**
 * Answers what `read` last found for `seconds`, then reads again. The age counts from the `now` of the call that read, so a change
 * made before a call takes effect within `seconds`. A failed read is not cached.
 */
export const cachedFor = <T>(seconds: number, read: () => Promise<T>): ((now: Date) => Promise<T>) => {
  let cached: { value: T; readAtMs: number } | undefined;
  return async (now) => {
    const nowMs = now.getTime();
    // A clock that is set back must not keep a value for as long.
    if (!cached || Math.abs(nowMs - cached.readAtMs) >= seconds * 1000)
      cached = { value: await read(), readAtMs: nowMs };
    return cached.value;
  };
};

/**
 * A parser that answers the text it was given last from memory, with the same object: for settings and secrets, which hardly
 * ever change and are needed by every request. What `parse` throws is not remembered.
 */
export const remembersLast = <T>(parse: (text: string) => T): ((text: string) => T) => {
  let last: { text: string; parsed: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, parsed: parse(text) };
    return last.parsed;
  };
};
