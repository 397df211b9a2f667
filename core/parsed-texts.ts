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
