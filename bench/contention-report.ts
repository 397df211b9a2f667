/** What creations at one rate came to. Kept in `bench/contention.json`. */
export interface ContentionRow {
  accounts: number;
  /** Over all accounts together. */
  creationsPerSecond: number;
  offered: number;
  accepted: number;
  rateLimited: number;
  serverErrors: number;
  /** From the call to its 202, in virtual milliseconds. */
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** The share of creations that must be accepted, by their rate: all at 25 a second, 99.9 % at 50. */
const REQUIRED_SHARE = new Map([
  [10, 1],
  [25, 1],
  [50, 0.999],
]);

const shareOf = ({ accepted, offered }: ContentionRow): number => accepted / offered;

/** What fell short of what is required. */
export const missesOf = (rows: readonly ContentionRow[]): string[] =>
  rows.flatMap((row) => {
    const { accounts, creationsPerSecond, serverErrors } = row;
    const what = `${creationsPerSecond} a second on ${accounts} accounts`;
    const required = REQUIRED_SHARE.get(creationsPerSecond) ?? 0;
    return [
      ...(shareOf(row) < required ? [`${what}: ${percent(shareOf(row))} accepted`] : []),
      ...(serverErrors > 0 ? [`${what}: ${serverErrors} server errors`] : []),
    ];
  });

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

/** The figures as `docs/bench-contention.md` shows them. */
export const contentionReport = (
  rows: readonly ContentionRow[],
  { seconds, transactionMs }: { seconds: number; transactionMs: number },
): string => {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`;
  const heads = [
    'accounts',
    'creations a second',
    'offered',
    'accepted',
    '429',
    '5xx',
    'p50',
    'p95',
    'p99',
    'max',
  ];
  const misses = missesOf(rows);
  return `# What creations at once do to each other

Made by \`npm run bench:contention\`, which writes the same figures to \`bench/contention.json\`: change neither by hand.

Every creation takes from the balance of its account, so that those of one account are one after another: each is a
transaction on the account's item, and DynamoDB refuses a transaction that meets another one. The function tries again, with
jitter, until it answers 429. This is measured in virtual time with the table of the simulation (\`test/simulation/aws/table.ts\`):

- A transaction holds its items for ${transactionMs} ms (an assumption) from its arrival to its commit; whatever meets it meanwhile is refused, and a
  condition that does not hold any more is refused with the item as it is.
- A call is 1 to 4 ms on its way, and as long on its way back. Nothing else fails; the executions that are started do nothing.
- Creations come at random (Poisson) for ${seconds} s at the given rate over all accounts together, whoever is still waiting. The keys'
  rate limit is out of the way.
- Latencies are of accepted creations, from the function's call to its answer, in milliseconds; a cold start, the gateway and the
  processor's time are not in them.

${line(heads)}${line(heads.map(() => '---:'))}${rows
  .map((row) =>
    line([
      row.accounts,
      row.creationsPerSecond,
      row.offered.toLocaleString('en'),
      percent(shareOf(row)),
      row.rateLimited,
      row.serverErrors,
      ...[row.p50Ms, row.p95Ms, row.p99Ms, row.maxMs],
    ]),
  )
  .join('')}
Required: every creation accepted at 25 a second on one account, 99.9 % at 50, and no answer of 5xx at any rate.
${misses.length === 0 ? 'All of it holds.' : `Missed: ${misses.join('; ')}.`}
`;
};
