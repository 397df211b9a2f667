import { markdownTable } from '../publish.ts';
import { type DeliveryFigures, FINISHED_PER_SECOND, WATCHED } from './deliveries.ts';

/** The result of one run. Times are in milliseconds. */
export interface DeliveryRow {
  otherHalf: DeliveryFigures['otherHalf'];
  deliveries: number;
  /** Webhooks of the watched half that arrived. */
  arrived: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
  mostAtOnce: number;
  cpuSeconds: number;
}

/** Callers are promised webhooks within a second. */
const LIMIT_MS = 1_000;

/** The row of a run. Throws when no webhook arrived. */
export const rowOf = ({ otherHalf, deliveries, milliseconds, ...others }: DeliveryFigures): DeliveryRow => {
  const percentile = (share: number): number => {
    const value = milliseconds[Math.ceil(milliseconds.length * share) - 1];
    if (value === undefined) throw new Error('No webhook arrived.');
    return value;
  };
  return {
    ...{ otherHalf, deliveries, arrived: milliseconds.length },
    ...{ p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), max: percentile(1) },
    ...others,
  };
};

/** Whether all webhooks to the healthy receiver arrived, 99 % of them within a second. */
const isWithinLimit = ({ arrived, p99 }: DeliveryRow): boolean => arrived === WATCHED && p99 <= LIMIT_MS;

const RECEIVERS: Record<DeliveryRow['otherHalf'], string> = {
  none: 'nobody: no other half',
  healthy: 'a healthy receiver',
  dead: 'a dead host',
};

/** The table of `docs/benchmarks.md`. */
export const reportOf = (rows: readonly DeliveryRow[]): string => {
  const dead = rows.find(({ otherHalf }) => otherHalf === 'dead');
  const healthy = rows.find(({ otherHalf }) => otherHalf === 'healthy');
  const ratio = (of: 'p50' | 'p99'): string =>
    ((dead?.[of] ?? Number.NaN) / (healthy?.[of] ?? Number.NaN)).toFixed(2);
  const verdict = dead && isWithinLimit(dead) ? 'They do.' : '**They do not.**';
  const columns = [
    'other half',
    'deliveries',
    'watched and arrived',
    ...['p50 ms', 'p90 ms', 'p99 ms', 'max ms'],
    'senders at once',
    'CPU seconds',
  ];
  const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
  return `${WATCHED} watched requests finish, ${FINISHED_PER_SECOND} a second. With a dead host as the other half, 99 % of the watched webhooks should
arrive within ${number(LIMIT_MS)} ms. ${verdict} Compared with a healthy other half, p50 is ${ratio('p50')} times and p99 ${ratio('p99')} times as long.

${markdownTable(
  columns,
  rows.map(({ otherHalf, deliveries, arrived, p50, p90, p99, max, mostAtOnce, cpuSeconds }) => [
    RECEIVERS[otherHalf],
    ...[deliveries, arrived, p50, p90, p99, max, mostAtOnce, cpuSeconds].map(number),
  ]),
  ['other half'],
)}`;
};
