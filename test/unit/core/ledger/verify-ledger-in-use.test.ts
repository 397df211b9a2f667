import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { requestKey } from '../../../../core/table/keys.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { create, fail, given, idOf, remove, settle, topUp, verify } from './a-verified-ledger.ts';

describe('verifying a ledger that is in use', () => {
  /** Does the steps in sequence while `run` continues, a step before every few calls of `run`. */
  const meanwhile = async <T>(
    steps: (() => Promise<unknown>)[],
    pauses: readonly number[],
    run: () => Promise<T>,
  ): Promise<T> => {
    let busy = false;
    let calls = 0;
    const queue = steps.map((step, index) => ({ step, after: pauses[index % pauses.length] ?? 0 }));
    memory.beforeCall = async () => {
      if (busy) return;
      calls += 1;
      const [first] = queue;
      if (!first || calls <= first.after) return;
      busy = true;
      calls = 0;
      queue.shift();
      await first.step();
      busy = false;
    };
    const result = await run();
    memory.beforeCall = () => undefined;
    for (const { step } of queue) await step();
    return result;
  };

  /** Numbers of requests in the order of what happens to them: creation, then an end, then perhaps deletion. */
  const aScript = fc
    .array(fc.tuple(fc.nat({ max: 3 }), fc.boolean()), { minLength: 1, maxLength: 8 })
    .chain((lives) =>
      fc.record({
        lives: fc.constant(lives),
        before: fc.nat({ max: lives.length * 3 }),
        pauses: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 6 }),
      }),
    );

  const stepsOf = (lives: [end: number, deleted: boolean][]): (() => Promise<unknown>)[] => {
    const creations = lives.map((_, number) => () => create(number));
    const endings = lives.map(
      ([end], number) =>
        () =>
          end === 3 ? fail(number) : settle(number, end),
    );
    const deletions = lives.flatMap(([, deleted], number) => (deleted ? [() => remove(number)] : []));
    return [...creations, ...endings, ...deletions];
  };

  test('finds no problem in requests that change between any two of its reads', async () => {
    await fc.assert(
      fc.asyncProperty(aScript, async ({ lives, before, pauses }) => {
        given();
        await topUp();
        const steps = stepsOf(lives);
        for (const step of steps.slice(0, before)) await step();

        const { problems: found } = await meanwhile(steps.slice(before), pauses, () => verify());

        expect(found).toEqual([]);
        expect((await verify()).problems).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test('finds a real problem all the same', async () => {
    await topUp();
    for (const number of [1, 2, 3]) await create(number);
    await fail(1);
    memory.patch(requestKey(idOf(1)), { refundThousandths: 1 });

    const { problems: found } = await meanwhile([() => fail(2), () => settle(3, 1)], [2], () => verify());

    expect(found.map(({ kind }) => kind)).toEqual(['refund_amount']);
  });
});
