import type { Cell } from './output.ts';

/** Rows as CSV (RFC 4180), the titles first. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export const formatCsv = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, ...rows].map((row) => row.map(fieldOf).join(',')).join('\n');

const FORMULA = /^[=+\-@\t\r]/;

const fieldOf = (cell: Cell): string => {
  if (typeof cell === 'number') return String(cell);
  const text = cell ?? '';
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
