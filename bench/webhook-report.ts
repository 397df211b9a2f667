import { type DeliveryFigures, ENDINGS_PER_SECOND, WATCHED } from './webhook-deliveries.ts';

/** What is kept of a run in `bench/webhooks.json`: times are in milliseconds. */
export interface DeliveryRow {
  otherHalf: DeliveryFigures['otherHalf'];
  deliveries: number;
  /** Of the watched half, how many arrived. */
  arrived: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
  mostAtOnce: number;
  cpuSeconds: number;
}

/** "Within a second" is what callers are told. */
const LIMIT_MS = 1_000;

/** The row of a run. Throws when nothing arrived at all. */
export const rowOf = ({ otherHalf, deliveries, milliseconds, ...others }: DeliveryFigures): DeliveryRow => {
  const percentile = (share: number): number => {
    const value = milliseconds[Math.ceil(milliseconds.length * share) - 1];
    if (value === undefined) throw new Error('Nothing arrived.');
    return value;
  };
  return {
    ...{ otherHalf, deliveries, arrived: milliseconds.length },
    ...{ p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), max: percentile(1) },
    ...others,
  };
};

/** Whether every webhook to a receiver that is well arrived, 99 of 100 within a second. */
export const holdsLimit = ({ arrived, p99 }: DeliveryRow): boolean => arrived === WATCHED && p99 <= LIMIT_MS;

const HALVES: Record<DeliveryRow['otherHalf'], string> = {
  nobody: 'nobody: there is no other half',
  well: 'a receiver that is well',
  dead: 'a dead host',
};

/** The figures as `docs/bench-webhooks.md` shows them. The run without a dead host at the same load comes before the one with it. */
export const reportOf = (rows: readonly DeliveryRow[]): string => {
  const dead = rows.find(({ otherHalf }) => otherHalf === 'dead');
  const well = rows.find(({ otherHalf }) => otherHalf === 'well');
  const ratio = (of: 'p50' | 'p99'): string =>
    ((dead?.[of] ?? Number.NaN) / (well?.[of] ?? Number.NaN)).toFixed(2);
  const verdict = dead && holdsLimit(dead) ? 'It does.' : '**It does not.**';
  return `# What a dead receiver costs the others

Made by \`npm run bench:webhooks\`, which writes the same figures to \`bench/webhooks.json\`: change neither by hand.

${WATCHED} requests end, ${ENDINGS_PER_SECOND} a second, whose webhooks go to a receiver that is well: they are the watched half. In between, as
many others end whose webhooks go to somebody else. Half of those to a **dead host** meet one that takes connections and never
answers, so that each try takes 15 s; the other half meet one that refuses connections. Failed tries are made again by the schedule.

It is a local run, with what follows a request's end (\`core/workflow/close-request.ts\`), the \`webhook-delivery\` executions, the sender's code
(\`core/deliver-webhook.ts\`) and sockets, but for the threads of its functions, of which it has a dozen: senders run in one process, as many at once as
deliveries are due, as Lambda would run them. **CPU seconds** are those of that process, receivers included. They hardly depend on
what else the machine does, which the times do.

The time is from a request's end to the arrival of its webhook. With a dead host as the other half, 99 of 100 should arrive within
${LIMIT_MS.toLocaleString('en')} ms. ${verdict} Beside the same load of receivers that are all well, the median is ${ratio('p50')} and the 99th percentile ${ratio('p99')} times as long.

| the other half goes to | deliveries | arrived of the watched | p50 ms | p90 ms | p99 ms | max ms | most senders at once | CPU seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.map(lineOf).join('')}`;
};

const lineOf = ({
  otherHalf,
  deliveries,
  arrived,
  p50,
  p90,
  p99,
  max,
  mostAtOnce,
  cpuSeconds,
}: DeliveryRow): string =>
  `| ${[HALVES[otherHalf], deliveries, arrived, p50, p90, p99, max, mostAtOnce, cpuSeconds].map((cell) => cell.toLocaleString('en', { maximumFractionDigits: 1 })).join(' | ')} |\n`;
