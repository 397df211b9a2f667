/** Typing errors at which a name is still taken for another. */
const MAX_ERRORS = 2;

/**
 * The name that `text` most probably stands for, ignoring case and punctuation; undefined when it resembles
 * none.
 */
export const nearestName = (text: string, names: readonly string[]): string | undefined => {
  const [nearest] = names
    .map((name) => ({ name, errors: editDistance(plain(text), plain(name)) }))
    .filter(({ errors }) => errors <= MAX_ERRORS)
    .toSorted((one, other) => one.errors - other.errors);
  return nearest?.name;
};

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The fewest characters to insert, remove or replace that make one text the other: Levenshtein's distance. */
const editDistance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};
