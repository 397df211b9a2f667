import { cut, pad, printable, widthOf, wrap } from './terminal-text.ts';

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

/**
 * A column's title. One with `id` holds what the next command is given: it is never cut, and stands on a line below its row before a table gets
 * too wide. One with `rest`, the last, then stands after the ids on that line, cut at the terminal's edge.
 */
export type Head = string | { id: string } | { rest: string };

/** A column's title as text. */
export const titleOf = (head: Head): string =>
  typeof head === 'string' ? head : 'id' in head ? head.id : head.rest;
const isRest = (head: Head | undefined): boolean => typeof head === 'object' && 'rest' in head;

/** A cell's text; numbers have separators between their thousands. */
const show = (cell: Cell): string =>
  printable(typeof cell === 'number' ? formatNumber(cell) : String(cell ?? '-'));

/** A number for people: 1,234.5. */
export const formatNumber = (number: number): string =>
  number.toLocaleString('en', { maximumFractionDigits: 3 });

const GAP = 2;
/** Fewest columns of a cell that is wrapped. */
const MIN_WRAPPED = 16;

interface Column {
  title: string;
  right: boolean;
  width: number;
  minWidth: number;
}

const columnOf = (head: Head, index: number, rows: readonly (readonly Cell[])[]): Column => {
  const title = titleOf(head);
  const cells = rows.map((row) => row[index]);
  const texts = cells.map(show);
  const width = Math.max(...[title, ...texts].map(widthOf));
  const wraps = typeof head === 'string' && texts.some((text) => text.includes(' '));
  return {
    title,
    right: cells.some((cell) => typeof cell === 'number'),
    width,
    minWidth: wraps ? Math.min(width, Math.max(MIN_WRAPPED, widthOf(title))) : width,
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

/** The lines of each row, the titles first. */
const drawRows = (columns: readonly Column[], rows: readonly (readonly Cell[])[]): string[][] => {
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ width, right }, index) => pad(texts[index] ?? '', width, right))
      .join(' '.repeat(GAP))
      .trimEnd();
  const body = rows.map((row) => {
    const cells = columns.map(({ width }, index) => wrap(show(row[index]), width));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, part) => line(cells.map((lines) => lines[part] ?? '')));
  });
  return [[line(columns.map(({ title }) => title.toUpperCase()))], ...body];
};

const draw = (columns: readonly Column[], rows: readonly (readonly Cell[])[]): string =>
  [...drawRows(columns, rows).flat(), ...(rows.length === 0 ? ['(none)'] : [])].join('\n');

const INSTANT = /^\d{4}-(\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})\.\d{3}Z$/;

/** An instant by month, day and time; other cells as they are. */
const shortened = (cell: Cell): Cell => (typeof cell === 'string' ? cell.replace(INSTANT, '$1 $2') : cell);

/**
 * A table with a header line and one line per row. Columns with numbers are right-aligned; no rows show as `(none)`.
 *
 * A table wider than `columns` is narrowed in steps until it fits, and no value is lost on a narrow terminal:
 * 1. Text is wrapped.
 * 2. Times lose year and milliseconds.
 * 3. Ids get a line of their own below each row.
 * 4. Each row becomes a block of fields.
 */
export const formatTable = (
  head: readonly Head[],
  rows: readonly (readonly Cell[])[],
  columns: number = Number.POSITIVE_INFINITY,
): string => {
  const plain = layOut(head, rows, columns);
  if (totalOf(plain) <= columns) return draw(plain, rows);
  const shortRows = rows.map((row) => row.map(shortened));
  const short = layOut(head, shortRows, columns);
  if (totalOf(short) <= columns || rows.length === 0) return draw(short, shortRows);
  return (
    withIdsBelow(head, shortRows, columns) ??
    rows
      .map((row) =>
        formatFields(Object.fromEntries(head.map((each, index) => [titleOf(each), row[index]])), columns),
      )
      .join('\n\n')
  );
};

const layOut = (head: readonly Head[], rows: readonly (readonly Cell[])[], columns: number): Column[] =>
  shrink(
    head.map((each, index) => columnOf(each, index, rows)),
    columns,
  );

/** The rows with the texts of their `rest` column as wide as the ids leave room for. */
const withRestCut = (
  head: readonly Head[],
  rows: readonly (readonly Cell[])[],
  columns: number,
): readonly (readonly Cell[])[] => {
  const rest = head.findIndex(isRest);
  const ids = head.flatMap((each, index) =>
    typeof each === 'object' && !isRest(each) ? [columnOf(each, index, rows)] : [],
  );
  const width = columns - GAP - totalOf(ids) - GAP;
  if (rest < 0 || width < MIN_WRAPPED) return rows;
  return rows.map((row) => row.with(rest, cut(show(row[rest]), width)));
};

/** A table whose ids and rests stand below each row, indented; undefined if it is too wide even so, or has none. */
const withIdsBelow = (
  head: readonly Head[],
  allRows: readonly (readonly Cell[])[],
  columns: number,
): string | undefined => {
  const rows = withRestCut(head, allRows, columns);
  const part = (isId: boolean) => {
    const shown = head.flatMap((each, index) => ((typeof each !== 'string') === isId ? [index] : []));
    const cells = rows.map((row) => shown.map((column) => row[column]));
    const laid = layOut(
      shown.flatMap((column) => head[column] ?? []),
      cells,
      isId ? columns - GAP : columns,
    );
    return { laid, cells };
  };
  const [others, ids] = [part(false), part(true)];
  if (ids.laid.length === 0 || others.laid.length === 0) return undefined;
  if (totalOf(others.laid) > columns || totalOf(ids.laid) > columns - GAP) return undefined;
  const below = drawRows(ids.laid, ids.cells);
  return drawRows(others.laid, others.cells)
    .flatMap((lines, index) => [...lines, ...(below[index] ?? []).map((line) => ' '.repeat(GAP) + line)])
    .join('\n');
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
