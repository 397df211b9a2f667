import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { withinLimits } from '../../../../core/concurrency/in-flight.ts';
import { waitingLimits } from '../../../../core/concurrency/waiting-limits.ts';
import { NOW } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

const functions = new MemoryFunctions();
beforeEach(() => functions.reset());

const LIMIT = { slots: 10, leaseSeconds: 300 };
const never = new Promise<never>(() => undefined);

/** How many of each account's calls wait, when each makes 40, one account after the other. */
const waiting = async (accounts: number, limit: Partial<typeof LIMIT>, inAll?: number): Promise<number[]> => {
  const counts = Array.from({ length: accounts }, () => 0);
  for (const account of counts.keys()) {
    for (let call = 0; call < 40; call++) {
      const limits = await waitingLimits('openai', `acc_${account}`, { ...LIMIT, ...limit, inAll }, NOW);
      let hasBegun = false;
      const work = () => {
        hasBegun = true;
        return never;
      };
      // Ends only when it is refused.
      const refused = withinLimits(limits, { now: () => NOW }, work);
      while (!hasBegun && !(await isSettled(refused)));
      if (hasBegun) counts[account] = (counts[account] ?? 0) + 1;
    }
  }
  return counts;
};
const isSettled = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((done) => setImmediate(() => done(false)))]);

describe('calls that wait for work of other functions', () => {
  // First: the quota of an AWS account is read once an hour.
  test('are as few as in the smallest AWS account while its quota cannot be read, and then a fifth of it', async () => {
    functions.client.on(GetAccountSettingsCommand).rejects(new Error('no'));
    expect(await waiting(3, {})).toEqual([1, 1, 0]);

    memory.reset();
    const AccountLimit = { ConcurrentExecutions: 100, UnreservedConcurrentExecutions: 60 };
    functions.client.on(GetAccountSettingsCommand).resolves({ AccountLimit } as never);
    expect(await waiting(3, {})).toEqual([6, 6, 0]);
    functions.client.on(GetAccountSettingsCommand).rejects(new Error('is not asked again'));
    memory.reset();
    expect(await waiting(1, {})).toEqual([6]);
  });

  test.each([
    ['of an account are as many as its limit', [10, 10], {}, 200],
    ['of an account are at most half of all', [2, 2, 0], {}, 4],
    ['are at least one', [1, 0], {}, 1],
    ['of all accounts are as many as there are, in many items of the table', [10, 10, 5, 0], {}, 25],
    ['are more where an operator allows more', [20, 20], { slots: 20 }, 40],
  ])('%s', async (_, expected, limit, inAll) => {
    expect(await waiting(expected.length, limit, inAll)).toEqual(expected);
  });
});
