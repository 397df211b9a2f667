import { describe, expect, test } from '@jest/globals';
import { runSimulation } from './child.ts';
import type { MutationName } from './runs/mutations.ts';

/** Two processes, one for each processor. Thousands of runs are in test/long/long-simulation.test.ts. */
const SEEDS = ['20261121', '20261122'];
const RUNS = '25';
const MINUTES = 60_000;

/** Found within the first runs. The others take minutes: test/long/long-simulation.test.ts. */
const BUG: MutationName = 'dispatch that calls no provider';
/** At most this many runs to find a bug. */
const RUNS_TO_FIND = '400';
const SEED_TO_FIND = ['--seed', '1', '--no-shrink'];

describe('the whole service in one process', () => {
  test(
    'keeps every rule over 50 runs of concurrent callers, providers and operators, with faults',
    async () => {
      const halves = await Promise.all(SEEDS.map((seed) => runSimulation(['--runs', RUNS, '--seed', seed])));

      for (const { text, exitCode } of halves) expect({ exitCode, text }).toEqual({ exitCode: 0, text });
    },
    5 * MINUTES,
  );

  describe('with a bug in it', () => {
    /** The run that found it, from 1. */
    let foundBy = 0;

    test(
      `finds a ${BUG}`,
      async () => {
        const { text, exitCode } = await runSimulation([
          ...SEED_TO_FIND,
          ...['--runs', RUNS_TO_FIND, '--mutation', BUG],
        ]);
        foundBy = Number(/^Run (\d+) failed/m.exec(text)?.[1] ?? '0');

        expect(exitCode).toBe(1);
        expect(foundBy).toBeGreaterThan(0);
      },
      3 * MINUTES,
    );

    test(
      'finds nothing in the same runs without the bug',
      async () => {
        expect(await runSimulation([...SEED_TO_FIND, '--runs', String(foundBy)])).toMatchObject({
          exitCode: 0,
        });
      },
      3 * MINUTES,
    );
  });
});
