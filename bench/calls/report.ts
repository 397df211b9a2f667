import { markdownTable } from '../publish.ts';
import type { Section } from './lists.ts';
import type { Row } from './rows.ts';

/** The tables of `docs/benchmarks.md`. */
export const reportOf = (sections: readonly Section[]): string =>
  sections.map(({ title, rows }) => `${title}:\n\n${requestTable(rows)}`).join('\n\n');

const requestTable = (rows: readonly Row[]): string =>
  markdownTable(
    ['request', 'with', 'calls', 'in sequence', 'read', 'write', 'operations'],
    rows.map((row) => [
      `\`${row.request}\``,
      situationOf(row),
      ...[row.calls, row.sequentialCalls, row.readUnits, row.writeUnits].map(number),
      operationsText(row.operations),
    ]),
    ['request', 'with', 'operations'],
  );

const situationOf = ({ records, situation, page }: Row): string => {
  const held = `${records === undefined ? '' : number(records)} ${situation}`.trim();
  return page === undefined ? held : `${held}, page ${page}`;
};

const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

const operationsText = (operations: Record<string, number>): string =>
  Object.entries(operations)
    .map(([operation, count]) => (count === 1 ? operation : `${number(count)} ${operation}`))
    .join(', ');
