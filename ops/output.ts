/** A text for people, laid out for a terminal of so many columns; undefined when it is not printed to one. */
export type Layout = (columns: number | undefined) => string;

/** A verb's result: the value that `--json` prints, and the text printed without it. */
export interface Result {
  value: unknown;
  text: string | Layout;
  /** Makes the command fail with this line, after its result is printed. */
  failure?: string;
}

/** The value of a table cell; null and undefined show as `-`. */
export type Cell = string | number | null | undefined;

const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Width in terminal columns: East Asian characters and emoji take two. */
export const widthOf = (text: string): number =>
  [...graphemes.segment(text)].reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);

/** A cell's text. Control characters become a space: they could move the cursor or break the row. */
const show = (cell: Cell): string => String(cell ?? '-').replaceAll(/\p{Cc}+/gu, ' ');

/** The text with spaces after it, or with `right` before it, up to a width in columns. */
export const pad = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? space + text : text + space;
};

/** The text, or as much of it as fits into `width` columns with an ellipsis. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
};

/** A table with a header line and one line per row. Columns with numbers are right-aligned; no rows show as `(none)`. */
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

/** Names and values, one per line. */
export const formatFields = (fields: Readonly<Record<string, Cell>>): string => {
  const width = Math.max(...Object.keys(fields).map(widthOf));
  return Object.entries(fields)
    .map(([name, cell]) => `${pad(name, width, false)}  ${show(cell)}`)
    .join('\n');
};
