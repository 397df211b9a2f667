import { markdownTable } from '../publish.ts';
import type { Section } from './lists.ts';
import type { Row } from './rows.ts';

/** Limits for a page deep in a list: its read units over those of page 1, and its calls in sequence. */
const MAX_TIMES_FIRST_PAGE = 4;
const MAX_SEQUENTIAL_CALLS = 3;

/** The limits apply to lists of at least this many records; only these are in the report. */
const LONG_LIST_RECORDS = 10_000;

const isWithinLimits = ({ timesFirstPage = 1, sequentialCalls }: Row): boolean =>
  timesFirstPage <= MAX_TIMES_FIRST_PAGE && sequentialCalls <= MAX_SEQUENTIAL_CALLS;

const isLong = ({ records = LONG_LIST_RECORDS }: Row): boolean => records >= LONG_LIST_RECORDS;

const isDeepPage = (row: Row): boolean => (row.page ?? 1) > 1 && isLong(row);

/** The deep pages that exceed a limit. */
export const missedTarget = (sections: readonly Section[]): Row[] =>
  sections.flatMap(({ rows }) => rows.filter((row) => isDeepPage(row) && !isWithinLimits(row)));

/** The tables of `docs/benchmarks.md`. Short lists are left out. */
export const reportOf = (sections: readonly Section[]): string => {
  const deep = sections.flatMap(({ rows }) => rows.filter(isDeepPage));
  const within = deep.length - missedTarget(sections).length;
  const lists = sections.filter(({ rows }) => rows.some(isDeepPage));
  const others = sections.filter((section) => !lists.includes(section));
  return [
    `Target: a page deep in a list of ${number(LONG_LIST_RECORDS)} reads at most ${MAX_TIMES_FIRST_PAGE} times as much as page 1, in at most ${MAX_SEQUENTIAL_CALLS} calls in sequence.`,
    `${within} of ${deep.length} pages meet it; the figures of the others are **bold**.`,
    '',
    listTable(lists.flatMap(({ rows }) => rows.filter(isLong))),
    ...others.flatMap(({ title, rows }) => ['', `${title}:`, '', requestTable(rows.filter(isLong))]),
  ].join('\n');
};

/** One line for each list, with its measured pages side by side. */
const listTable = (rows: readonly Row[]): string => {
  const lists = [...Map.groupBy(rows, ({ request, situation }) => `${request}\n${situation}`).values()];
  return markdownTable(
    ['list', 'holds', 'read, page 1', 'read, page 100', 'read, last page', 'calls in sequence'],
    lists.map((pages) => {
      const [first, middle, last] = pages;
      if (!first || !middle || !last) throw new Error('A list has fewer than three pages.');
      const sequence = pages.map((row) =>
        emphasized(
          String(row.sequentialCalls),
          isDeepPage(row) && row.sequentialCalls > MAX_SEQUENTIAL_CALLS,
        ),
      );
      return [
        `\`${first.request}\``,
        situationOf(first),
        number(first.readUnits),
        ...[middle, last].map(deepReads),
        sequence.join(', '),
      ];
    }),
    ['list', 'holds'],
  );
};

const deepReads = ({ readUnits, timesFirstPage = 1 }: Row): string =>
  emphasized(`${number(readUnits)} (×${number(timesFirstPage)})`, timesFirstPage > MAX_TIMES_FIRST_PAGE);

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

const situationOf = ({ records, situation }: Row): string =>
  `${records === undefined ? '' : number(records)} ${situation}`.trim();

const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

const emphasized = (text: string, isTooMuch: boolean): string => (isTooMuch ? `**${text}**` : text);

const operationsText = (operations: Record<string, number>): string =>
  Object.entries(operations)
    .map(([operation, count]) => (count === 1 ? operation : `${number(count)} ${operation}`))
    .join(', ');
