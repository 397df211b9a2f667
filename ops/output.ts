/** What a verb answers: the value `--json` prints, and the text for people. */
export interface Result {
  value: unknown;
  text: string;
  /** Why the command fails all the same, in one line; its result is printed first. */
  failure?: string;
}

/** What stands in one field of a table; null and undefined show as `-`. */
export type Cell = string | number | null | undefined;

const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The columns a text takes in a terminal: East Asian characters and emoji take two. */
const widthOf = (text: string): number =>
  [...graphemes.segment(text)].reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);

/** A cell as it is shown. Control characters, which could move the cursor or break the row, show as a space. */
const show = (cell: Cell): string => String(cell ?? '-').replaceAll(/\p{Cc}+/gu, ' ');

const pad = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? space + text : text + space;
};

/** A table with a head line and one line a row. A column of numbers is aligned right; no rows show as `(none)`. */
export const formatTable = (head: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const columns = head.map((title, column) => {
    const cells = rows.map((row) => row[column]);
    return {
      width: Math.max(...[title, ...cells.map(show)].map(widthOf)),
      right: cells.some((cell) => typeof cell === 'number'),
    };
  });
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ width, right }, column) => pad(texts[column] ?? '', width, right))
      .join('  ')
      .trimEnd();
  const body = rows.length === 0 ? ['(none)'] : rows.map((row) => line(row.map(show)));
  return [line(head.map((title) => title.toUpperCase())), ...body].join('\n');
};

/** One thing's fields, one a line. */
export const formatFields = (fields: Readonly<Record<string, Cell>>): string => {
  const width = Math.max(...Object.keys(fields).map(widthOf));
  return Object.entries(fields)
    .map(([name, cell]) => `${pad(name, width, false)}  ${show(cell)}`)
    .join('\n');
};
