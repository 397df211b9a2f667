import { type Part, type Result, resultOf } from '../results.ts';
import { type Outcome, runSituation } from './model.ts';

const SEEDS = [1, 2, 3, 4, 5];
const STEADY: [rate: number, holdMs: number, baseline: number | undefined][] = [
  [50, 8, 100],
  [40, 15, undefined],
  [25, 25, 99],
];
const BURST_BASELINE = [45, 33, 24];

/** One account, and many, in the model of the table. The worst of five seeds. */
export const measureContention = async (): Promise<Part> => ({
  title: 'Accounts under load',
  note: 'In the model above, with 5 % refunds; the worst of five seeds. Tests hold all of it.',
  results: [...steady(), ...bursts(), ...storms(), ...many()],
});

const worst = (
  situation: Omit<Parameters<typeof runSituation>[0], 'seed'>,
  of: (outcome: Outcome) => number,
) => SEEDS.map((seed) => of(runSituation({ ...situation, seed })));

const steady = (): Result[] =>
  STEADY.map(([creationsPerSecond, holdMs, baseline]) => {
    const shares = worst({ creationsPerSecond, holdMs }, ({ accepted }) => accepted);
    const name = `one account, ${creationsPerSecond}/s, holds of ${holdMs} ms: accepted`;
    return resultOf(name, 100 * Math.min(...shares), '%', {
      budget: 100,
      atLeast: true,
      ...(baseline !== undefined && { baseline }),
    });
  });

const bursts = (): Result[] =>
  STEADY.flatMap(([, holdMs], index) => {
    const name = `burst of 100, holds of ${holdMs} ms`;
    const shares = worst({ burst: 100, holdMs }, ({ accepted }) => accepted);
    const slowest = worst({ burst: 100, holdMs }, ({ slowestMs }) => slowestMs);
    const baseline = BURST_BASELINE[index] as number;
    return [
      resultOf(`${name}: accepted`, 100 * Math.min(...shares), '%', { budget: 100, atLeast: true, baseline }),
      resultOf(`${name}: slowest`, Math.max(...slowest) / 1_000, 's', { budget: 5 }),
    ];
  });

const storms = (): Result[] =>
  STEADY.flatMap(([, holdMs]) => {
    const name = `200 refunds at once beside 20/s, holds of ${holdMs} ms`;
    const situation = { creationsPerSecond: 20, refundsAtOnce: 200, holdMs };
    const shares = worst(situation, ({ accepted }) => accepted);
    const slowest = worst(situation, ({ slowestRefundMs }) => slowestRefundMs);
    return [
      resultOf(`${name}: accepted`, 100 * Math.min(...shares), '%', { budget: 100, atLeast: true }),
      resultOf(`${name}: slowest refund`, Math.max(...slowest) / 1_000, 's', { budget: 30 }),
    ];
  });

const many = (): Result[] => {
  const outcome = runSituation({ creationsPerSecond: 1_000, accounts: 100, holdMs: 8, seed: 1 });
  const name = '100 accounts, 1,000/s, holds of 8 ms';
  return [
    resultOf(`${name}: accepted`, 100 * outcome.accepted, '%', { budget: 100, atLeast: true }),
    resultOf(`${name}: p99`, outcome.p99Ms, 'ms', { budget: 150 }),
  ];
};
