import { markdownTable } from '../publish.ts';

/** The result of creations at one rate. */
export interface ContentionRow {
  accounts: number;
  /** All accounts together. */
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

/** Minimum share of accepted creations, by rate: all at 25 a second, 99.9 % at 50. */
const REQUIRED_SHARE = new Map([
  [10, 1],
  [25, 1],
  [50, 0.999],
]);

const shareOf = ({ accepted, offered }: ContentionRow): number => accepted / offered;

/** The requirements that were missed, one line each. */
export const missesOf = (rows: readonly ContentionRow[]): string[] =>
  rows.flatMap((row) => {
    const { accounts, creationsPerSecond, serverErrors } = row;
    const situation = `${creationsPerSecond} a second on ${accounts} accounts`;
    const required = REQUIRED_SHARE.get(creationsPerSecond) ?? 0;
    return [
      ...(shareOf(row) < required ? [`${situation}: ${percent(shareOf(row))} accepted`] : []),
      ...(serverErrors > 0 ? [`${situation}: ${serverErrors} server errors`] : []),
    ];
  });

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

/** The table of `docs/benchmarks.md`. */
export const reportOf = (
  rows: readonly ContentionRow[],
  { seconds, transactionMs }: { seconds: number; transactionMs: number },
): string => {
  const misses = missesOf(rows);
  const verdict = misses.length === 0 ? 'All hold.' : `Missed: ${misses.join('; ')}.`;
  const columns = [
    'accounts',
    'creations/s',
    'offered',
    'accepted',
    '429',
    '5xx',
    'p50',
    'p95',
    'p99',
    'max',
  ];
  return `Creations arrive at random (Poisson) for ${seconds} s. A transaction holds its items for ${transactionMs} ms, which is an assumption.

Required: all creations accepted at 25 a second on one account, 99.9 % at 50, and no 5xx at any rate. ${verdict}

${markdownTable(
  columns,
  rows.map((row) => [
    row.accounts,
    row.creationsPerSecond,
    row.offered.toLocaleString('en'),
    percent(shareOf(row)),
    row.rateLimited,
    row.serverErrors,
    ...[row.p50Ms, row.p95Ms, row.p99Ms, row.maxMs],
  ]),
)}`;
};
