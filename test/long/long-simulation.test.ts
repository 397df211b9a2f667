import { describe, expect, test } from '@jest/globals';
import { runSimulation } from '../simulation/child.ts';
import type { MutationName } from '../simulation/runs/mutations.ts';

/** The seeds with their runs, a process for each. */
const SEEDS = [
  ['20261121', '1000'],
  ['20261123', '350'],
  ['20261124', '350'],
] as const;
/** Limits for a busy machine: 1,700 runs take 3 minutes of two processors. */
const MINUTES = 60_000;

const BUGS: MutationName[] = [
  'refund without condition',
  'debit outside the transaction',
  'settle that ignores the claim',
  'reconciler that starts nothing',
  'waiting call that keeps its slot',
  'waiting call that knows no other',
  'callback whose signature nobody checks',
  'state of one task taken for all',
];
/** At most this many runs to find a bug. */
const RUNS_TO_FIND = '400';

describe('the simulation of the whole service', () => {
  test(
    'breaks no rule in 1,700 runs with concurrent callers, providers, operators and faults',
    async () => {
      const results = await Promise.all(
        SEEDS.map(([seed, runs]) => runSimulation(['--runs', runs, '--seed', seed])),
      );

      for (const { text, exitCode } of results) expect({ exitCode, text }).toEqual({ exitCode: 0, text });
    },
    30 * MINUTES,
  );

  test.each(BUGS)(
    'finds a %s, and no failure in the same runs without it',
    async (mutation) => {
      const seed = ['--seed', '1', '--no-shrink'];
      const found = await runSimulation([...seed, '--runs', RUNS_TO_FIND, '--mutation', mutation]);
      const run = /^Run (\d+) failed/m.exec(found.text)?.[1] ?? '0';
      const without = await runSimulation([...seed, '--runs', run]);

      expect(found.exitCode).toBe(1);
      expect(Number(run)).toBeGreaterThan(0);
      expect(without).toMatchObject({ exitCode: 0 });
    },
    10 * MINUTES,
  );

  test(
    'comes to the same failure again from the same seed',
    async () => {
      const options = [
        ...['--runs', '40', '--seed', '5', '--no-shrink'],
        ...['--mutation', 'debit outside the transaction'],
      ];
      const [first, second] = await Promise.all([runSimulation(options), runSimulation(options)]);

      const scenario = ({ text }: { text: string }): string => text.slice(text.indexOf('Run '));
      expect(scenario(first)).toContain('failed');
      expect(scenario(second)).toBe(scenario(first));
    },
    3 * MINUTES,
  );
});
