import { expect, test } from '@jest/globals';
import { runSimulation } from './child.ts';
import type { MutationName } from './runs/mutations.ts';

/** A short sample: hundreds of runs, and bugs that take minutes to find, are in test/long/long-simulation.test.ts. */
const SAMPLE = ['--seed', '1', '--runs', '10'];
/** Found within the sample, which passes without the bug. */
const BUG: MutationName = 'dispatch that calls no provider';
const MINUTES = 60_000;

test(
  'the whole service in one process keeps every rule with concurrent callers, providers, operators and faults',
  async () => {
    const { text, exitCode } = await runSimulation(SAMPLE);

    expect({ exitCode, text }).toEqual({ exitCode: 0, text });
    expect(text).toMatch(/^10 runs, [1-9]\d* requests, [1-9]\d* faults met/m);
  },
  5 * MINUTES,
);

test(
  `the same runs find a ${BUG}`,
  async () => {
    const { text, exitCode } = await runSimulation([...SAMPLE, '--no-shrink', '--mutation', BUG]);

    expect(exitCode).toBe(1);
    expect(text).toMatch(/^Run \d+ failed/m);
  },
  3 * MINUTES,
);
