import { describe, expect, test } from '@jest/globals';
import { BODY, onceAt, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { calls, created } = useOpenAiCalls();

type Answer = Awaited<ReturnType<typeof calls.make>>;

describe('Equal calls', () => {
  test.each([0, 1])(
    'at once are creations of their own, and after 408 each equal call collects another (retry %i)',
    async (retry) => {
      const firsts = await Promise.all([1, 2, 3].map(() => calls.make(BODY)));
      expect(firsts.map(({ status }) => status)).toEqual([408, 408, 408]);
      const ids = created();
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) calls.succeed(id);

      const later = await Promise.all([1, 2, 3].map(() => calls.make(BODY, { retry })));

      expect(later.map(requestIn).toSorted()).toEqual(ids.toSorted());
      expect(created()).toHaveLength(3);
    },
  );

  test('take what was answered with 408 before what was answered with images', async () => {
    const released = await calls.make(BODY);
    const done = await calls.make({ ...BODY, n: 2 }, { endsAfterSeconds: 1 });
    calls.succeed(released.requestId);

    expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(released.requestId);
    expect(created()).toEqual([released.requestId, done.requestId]);
  });

  test('one after the other: a retry gets what its own call made, not what was answered before', async () => {
    const answerLost = async () => (await calls.make(BODY, { endsAfterSeconds: 1 })).requestId;
    await answerLost();
    calls.wait(5);
    const second = await answerLost();
    expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(second);
  });

  /** Two calls at once, of which the retry of the first takes the newer request over. */
  const callsThatSwap = async (secondRetry: number): Promise<Answer[]> => {
    const answers: Answer[] = [];
    const first = await calls.make(BODY, {
      meanwhile: onceAt(3, async () => {
        const second = await calls.make(BODY, {
          meanwhile: onceAt(3, async () => {
            const end = () => calls.succeed(created()[1] ?? '');
            answers.push(await calls.make(BODY, { retry: 1, meanwhile: end }));
          }),
        });
        answers.push(second);
        const end = () => calls.succeed(created()[0] ?? '');
        answers.push(await calls.make(BODY, { retry: secondRetry, meanwhile: end }));
      }),
    });
    return [...answers, first];
  };

  test("that take each other's requests are answered with one each, and debited once each", async () => {
    const [retryOfFirst, second, retryOfSecond, first] = await callsThatSwap(1);

    expect([retryOfFirst, second, retryOfSecond, first].map((one) => one?.status)).toEqual([
      200, 408, 200, 408,
    ]);
    expect([retryOfFirst, retryOfSecond].map((one) => one && requestIn(one))).toEqual(created().toReversed());
    expect(created()).toHaveLength(2);
  });

  test('are taken over by retries of a higher count only: twins make requests of their own', async () => {
    const taken: string[] = [];
    await calls.make(BODY, {
      meanwhile: onceAt(1, async () => {
        const twins = [1, 2].map(() => calls.make(BODY, { retry: 1, endsAfterSeconds: 9 }));
        taken.push(...(await Promise.all(twins)).map(requestIn));
      }),
    });

    expect(new Set(taken).size).toBe(2);
    expect(created()).toEqual(expect.arrayContaining(taken));
    expect(created()).toHaveLength(2);
  });

  test('broken off are continued by their own retries, which leave what others were told by 408 to them', async () => {
    const own = await calls.make(BODY);
    const brokenOff = await calls.make(BODY, {
      retry: 1,
      meanwhile: onceAt(1, async () => {
        const other = await calls.make(BODY);
        expect([own.status, other.status]).toEqual([408, 408]);
        for (const id of created()) calls.succeed(id);

        expect(requestIn(await calls.make(BODY, { retry: 2 }))).toBe(own.requestId);
        expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(other.requestId);
      }),
    });

    expect(brokenOff.status).toBe(408);
    expect(created()).toHaveLength(2);
  });

  test('whose answers were lost are given again to their own retries, as far as their counts tell', async () => {
    const first = await calls.make(BODY, { endsAfterSeconds: 1 });
    const second = await calls.make(BODY, {
      meanwhile: onceAt(1, async () => {
        const retry = await calls.make(BODY, {
          retry: 1,
          meanwhile: () => calls.succeed(created()[1] ?? ''),
        });
        expect(requestIn(retry)).toBe(created()[1]);
      }),
    });

    expect(second.status).toBe(408);
    expect(requestIn(await calls.make(BODY, { retry: 2 }))).toBe(created()[1]);
    expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(requestIn(first));
  });
});
