import { cutMiddle, pad, printable, widthOf, wrap } from './terminal-text.ts';

/** A text for people, laid out for a terminal of `columns` characters, or for a pipe. */
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

/** A column's title; with `cut`, its cells lose their middle before a table gets too wide. */
export type Head = string | { title: string; fit: 'cut' };

const titleOf = (head: Head): string => (typeof head === 'string' ? head : head.title);

/** A cell's text. */
const show = (cell: Cell): string => printable(String(cell ?? '-'));

const GAP = 2;
/** Fewest columns of a cell that is wrapped or cut. */
const MIN_WRAPPED = 16;
const MIN_CUT = 9;

interface Column {
  title: string;
  right: boolean;
  width: number;
  minWidth: number;
  /** The lines of a cell. */
  lay(text: string, width: number): string[];
}

const columnOf = (head: Head, index: number, rows: readonly (readonly Cell[])[]): Column => {
  const title = titleOf(head);
  const cells = rows.map((row) => row[index]);
  const texts = cells.map(show);
  const width = Math.max(...[title, ...texts].map(widthOf));
  const isCut = typeof head !== 'string';
  const wraps = texts.some((text) => text.includes(' '));
  return {
    title,
    right: cells.some((cell) => typeof cell === 'number'),
    width,
    minWidth:
      isCut || wraps ? Math.min(width, Math.max(isCut ? MIN_CUT : MIN_WRAPPED, widthOf(title))) : width,
    lay: isCut ? (text, columns) => [cutMiddle(text, columns)] : wrap,
  };
};

const totalOf = (columns: readonly Column[]): number =>
  columns.reduce((sum, { width }) => sum + width + GAP, -GAP);

/** Takes from the widest column that can give until the table fits or none can. */
const shrink = (columns: readonly Column[], limit: number): Column[] => {
  const shrunk = columns.map((column) => ({ ...column }));
  for (let excess = totalOf(shrunk) - limit; excess > 0; excess--) {
    const givers = shrunk.filter(({ width, minWidth }) => width > minWidth);
    const [widest] = givers.sort((a, b) => b.width - a.width);
    if (!widest) break;
    widest.width--;
  }
  return shrunk;
};

const draw = (columns: readonly Column[], rows: readonly (readonly Cell[])[]): string => {
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ width, right }, index) => pad(texts[index] ?? '', width, right))
      .join(' '.repeat(GAP))
      .trimEnd();
  const body = rows.flatMap((row) => {
    const cells = columns.map(({ lay, width }, index) => lay(show(row[index]), width));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, part) => line(cells.map((lines) => lines[part] ?? '')));
  });
  const head = line(columns.map(({ title }) => title.toUpperCase()));
  return [head, ...(rows.length === 0 ? ['(none)'] : body)].join('\n');
};

const INSTANT = /^\d{4}-(\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})\.\d{3}Z$/;

/** An instant by month, day and time; other cells as they are. */
const shortened = (cell: Cell): Cell => (typeof cell === 'string' ? cell.replace(INSTANT, '$1 $2') : cell);

/**
 * A table with a header line and one line per row. Columns with numbers are right-aligned; no rows show as `(none)`.
 *
 * If a table is wider than `columns`, its text is wrapped; then its times lose year and milliseconds, and its
 * `cut` columns are cut. If that does not suffice, each row becomes a block of fields: nothing is lost on a
 * narrow terminal.
 */
export const formatTable = (
  head: readonly Head[],
  rows: readonly (readonly Cell[])[],
  columns: number = Number.POSITIVE_INFINITY,
): string => {
  const laid = (of: readonly (readonly Cell[])[]): Column[] =>
    shrink(
      head.map((each, index) => columnOf(each, index, of)),
      columns,
    );
  const plain = laid(rows);
  if (totalOf(plain) <= columns) return draw(plain, rows);
  const shortRows = rows.map((row) => row.map(shortened));
  const short = laid(shortRows);
  if (totalOf(short) <= columns || rows.length === 0) return draw(short, shortRows);
  return rows
    .map((row) =>
      formatFields(Object.fromEntries(head.map((each, index) => [titleOf(each), row[index]])), columns),
    )
    .join('\n\n');
};

/** Names and values, one per line. Values wider than the terminal go on below, between words. */
export const formatFields = (
  fields: Readonly<Record<string, Cell>>,
  columns: number = Number.POSITIVE_INFINITY,
): string => {
  const width = Math.max(...Object.keys(fields).map(widthOf));
  const left = columns - width - GAP;
  return Object.entries(fields)
    .map(([name, cell]) => {
      const text = show(cell);
      // Ids and keys stay whole, so that they can be copied.
      const lines = text.includes(' ') && left >= MIN_WRAPPED ? wrap(text, left) : [text];
      return `${pad(name, width, false)}  ${lines.join(`\n${' '.repeat(width + GAP)}`)}`;
    })
    .join('\n');
};
