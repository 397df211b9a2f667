import { describe, expect, test } from '@jest/globals';
import { runSimulation } from './child.ts';
import type { MutationName } from './mutations.ts';

/** Half of the runs each: two processes use two processors. */
const HALVES = ['20261121', '20261122'];
const RUNS = '1000';
const MINUTES = 60_000;

/** What each bug that is put there on purpose leaves behind. */
const TRACES: [MutationName, RegExp][] = [
  ['refund without condition', /breaks the chain|stands where|entries are counted|[02] (debits|refunds) of/],
  ['debit outside the transaction', /which was never accepted/],
  ['settle that ignores the claim', /changed after its end/],
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

  test.each(TRACES)(
    'finds a %s',
    async (mutation, traces) => {
      const { text, exitCode } = await runSimulation([
        ...['--runs', RUNS_TO_FIND, '--seed', '1'],
        ...['--mutation', mutation, '--no-shrink'],
      ]);

      expect(exitCode).toBe(1);
      expect(text).toMatch(/^Run \d+ failed/m);
      expect(text).toMatch(traces);
    },
    3 * MINUTES,
  );

  test(
    'comes to the same failure again from the same seed',
    async () => {
      const options = ['--runs', '40', '--seed', '5', '--mutation', 'debit outside the transaction', '--no-shrink'];
      const [first, second] = await Promise.all([runSimulation(options), runSimulation(options)]);

      const scenario = ({ text }: { text: string }): string => text.slice(text.indexOf('Run '));
      expect(scenario(first)).toContain('failed');
      expect(scenario(second)).toBe(scenario(first));
    },
    3 * MINUTES,
  );
});
