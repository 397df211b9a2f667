import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Spent } from '../simulation/budgets/spend.ts';

const PROGRAM = fileURLToPath(new URL('../simulation/budgets/main.ts', import.meta.url));
const TIMEOUT_MS = 170_000;

const CREATIONS = 10_000;

describe(`10,000 creations against budgets, at once, with faults and refunds, over three days`, () => {
  let measured: { spent: Spent; unguarded: Spent };

  /** In a process of its own: the simulation replaces clock, timers and network of its process. */
  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, String(CREATIONS)], {
      timeout: TIMEOUT_MS,
    });
    measured = JSON.parse(stdout) as typeof measured;
  }, TIMEOUT_MS);

  test('spend at no time more than a budget of an end-user or the API key', () => {
    const { over, ...counted } = measured.spent;

    expect(over).toEqual([]);
    expect(counted.creations).toBeGreaterThanOrEqual(CREATIONS);
    for (const many of [counted.accepted, counted.refused, counted.refunds, counted.faultsMet])
      expect(many).toBeGreaterThan(30);
    expect(counted.unjudged).toBeLessThan(CREATIONS / 20);
  });

  test('are counted exactly, with every refund on the day of its debit', () => {
    expect(measured.spent.wrong).toEqual([]);
  });

  test('spend more when what is counted is never refused, which is noticed', () => {
    expect(measured.unguarded.over.length).toBeGreaterThan(0);
  });
});
