import { describe, expect, test } from '@jest/globals';
import { runSimulation } from './child.ts';
import type { MutationName } from './mutations.ts';

/** Half of the runs each: two processes use two processors. */
const HALVES = ['20261121', '20261122'];
const RUNS = '1000';
const MINUTES = 60_000;

const BUGS: MutationName[] = [
  'refund without condition',
  'debit outside the transaction',
  'settle that ignores the claim',
];
/** How many runs may be needed to find one. */
const RUNS_TO_FIND = '400';

describe('the whole service in one process', () => {
  test(
    'keeps every rule over 2,000 runs of callers, providers and operators at once, with faults',
    async () => {
      const halves = await Promise.all(HALVES.map((seed) => runSimulation(['--runs', RUNS, '--seed', seed])));

      for (const { text, exitCode } of halves) expect({ exitCode, text }).toEqual({ exitCode: 0, text });
    },
    5 * MINUTES,
  );

  test.each(BUGS)(
    'finds a %s, and nothing in the same runs without it',
    async (mutation) => {
      const seed = ['--seed', '1', '--no-shrink'];
      const found = await runSimulation([...seed, '--runs', RUNS_TO_FIND, '--mutation', mutation]);
      const run = /^Run (\d+) failed/m.exec(found.text)?.[1] ?? '0';
      const without = await runSimulation([...seed, '--runs', run]);

      expect(found.exitCode).toBe(1);
      expect(Number(run)).toBeGreaterThan(0);
      expect(without).toMatchObject({ exitCode: 0 });
    },
    3 * MINUTES,
  );

  test(
    'comes to the same failure again from the same seed',
    async () => {
      const options = [
        '--runs',
        '40',
        '--seed',
        '5',
        '--mutation',
        'debit outside the transaction',
        '--no-shrink',
      ];
      const [first, second] = await Promise.all([runSimulation(options), runSimulation(options)]);

      const scenario = ({ text }: { text: string }): string => text.slice(text.indexOf('Run '));
      expect(scenario(first)).toContain('failed');
      expect(scenario(second)).toBe(scenario(first));
    },
    3 * MINUTES,
  );
});
