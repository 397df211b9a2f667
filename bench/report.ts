import type { Section } from './lists.ts';
import type { Row } from './rows.ts';

/** What a page deep in a list may cost: its read units over those of page 1, and how many calls in sequence. */
const MAX_TIMES_FIRST_PAGE = 4;
const MAX_SEQUENTIAL_CALLS = 3;

/** Whether a page of a list costs no more than it may. */
const holdsTarget = ({ timesFirstPage = 1, sequentialCalls }: Row): boolean =>
  timesFirstPage <= MAX_TIMES_FIRST_PAGE && sequentialCalls <= MAX_SEQUENTIAL_CALLS;

/** Whether the target is meant for this row: a page deep in a long list. */
const isDeepPage = ({ page = 1, records = 0 }: Row): boolean => page > 1 && records >= LONG_LIST_RECORDS;
const LONG_LIST_RECORDS = 10_000;

/** The deep pages that cost more than they may. */
export const missedTarget = (sections: readonly Section[]): Row[] =>
  sections.flatMap(({ rows }) => rows.filter((row) => isDeepPage(row) && !holdsTarget(row)));

/** The figures as `docs/bench-calls.md` shows them. */
export const reportOf = (sections: readonly Section[]): string => {
  const deep = sections.flatMap(({ rows }) => rows.filter(isDeepPage));
  const missed = missedTarget(sections);
  return `# What each request costs in calls to the table

Made by \`npm run bench:calls\`, which writes the same figures to \`bench/calls.json\`: change neither by hand.

- **Calls** are those that the endpoint's function makes to the table. **In sequence** is the most of them of which each
  began after the one before had ended; those made at once overlap. Where 16 deletions at a time take turns it says little
  more than how long it took, and is not quite the same twice.
- **Read** and **write** are the capacity units of the answers (\`ReturnConsumedCapacity=TOTAL\`), indexes included, as the
  local DynamoDB engine computes them. A refused write says nothing of what it consumed and counts as 0.
- **× page 1** compares the read units of a page with those of the first page of the same list. Pages hold
  20 items. All requests of a list read alike, so that every filter finds all of them.
- Every request looks up its key (1 write) and its account (1 read) at the same time as whatever it asks for first.

A page deep in a list of ${number(LONG_LIST_RECORDS)} should cost at most ${MAX_TIMES_FIRST_PAGE} times the read capacity of page 1, in at most ${MAX_SEQUENTIAL_CALLS}
calls in sequence. ${deep.length - missed.length} of the ${deep.length} such pages below do; figures beyond are **bold**.
${sections.map(tableOf).join('')}`;
};

const tableOf = ({ title, rows }: Section): string => {
  const isList = rows.some(({ page }) => page !== undefined);
  const columns = [
    { head: 'request', cell: ({ request }: Row) => `\`${request}\`` },
    { head: 'with', cell: ({ records, situation }: Row) => `${number(records)} ${situation}`.trim() },
    ...(isList ? [{ head: 'page', cell: ({ page }: Row) => number(page) }] : []),
    { head: 'calls', cell: ({ calls }: Row) => number(calls) },
    { head: 'in sequence', cell: (row: Row) => sequence(row) },
    { head: 'read', cell: ({ readUnits }: Row) => number(readUnits) },
    { head: 'write', cell: ({ writeUnits }: Row) => number(writeUnits) },
    ...(isList ? [{ head: '× page 1', cell: (row: Row) => times(row) }] : []),
    { head: 'which', cell: ({ operations }: Row) => operationsText(operations) },
  ];
  const line = (cells: string[]) => `| ${cells.join(' | ')} |\n`;
  const isNumber = (head: string) => !['request', 'with', 'which'].includes(head);
  return [
    `\n## ${title}\n\n`,
    line(columns.map(({ head }) => head)),
    line(columns.map(({ head }) => (isNumber(head) ? '---:' : '---'))),
    ...rows.map((row) => line(columns.map(({ cell }) => cell(row)))),
  ].join('');
};

const number = (value?: number): string =>
  value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 1 });

const emphasized = (text: string, isTooMuch: boolean): string => (isTooMuch ? `**${text}**` : text);

const sequence = (row: Row): string =>
  emphasized(number(row.sequentialCalls), isDeepPage(row) && row.sequentialCalls > MAX_SEQUENTIAL_CALLS);

const times = ({ page = 1, timesFirstPage = 1 }: Row): string =>
  page === 1 ? '' : emphasized(timesFirstPage.toFixed(2), timesFirstPage > MAX_TIMES_FIRST_PAGE);

const operationsText = (operations: Record<string, number>): string =>
  Object.entries(operations)
    .map(([operation, count]) => (count === 1 ? operation : `${number(count)} ${operation}`))
    .join(', ');
