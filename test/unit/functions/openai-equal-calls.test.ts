import { describe, expect, test } from '@jest/globals';
import { idempotencyPartition } from '../../../core/table/keys.ts';
import { ACCOUNT_ID, EMAIL } from '../builders/entities.ts';
import { onceAt, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, calls, created } = useOpenAiCalls();

const BODY = { model: 'xQI3Pro', prompt: 'a lighthouse', user: EMAIL };
describe('Equal calls', () => {
  test('at once are creations of their own, and each retry collects another', async () => {
    const firsts = await Promise.all([1, 2, 3].map(() => calls.make(BODY)));
    expect(firsts.map(({ status }) => status)).toEqual([408, 408, 408]);
    const ids = created();
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) calls.succeed(id);

    const retries = await Promise.all([1, 2, 3].map(() => calls.make(BODY, { retry: 1 })));

    expect(retries.map(requestIn).toSorted()).toEqual(ids.toSorted());
    expect(created()).toHaveLength(3);
  });

  test('take what was answered with 408 before what was answered with images', async () => {
    const done = await calls.make(BODY, { endsAfterSeconds: 1 });
    const handedBack = await calls.make(BODY);
    calls.succeed(handedBack.requestId);

    expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(handedBack.requestId);
    expect(created()).toEqual([done.requestId, handedBack.requestId]);
  });

  test('one after the other: a retry collects what its own call made, not what was answered before', async () => {
    const answerLost = async () => (await calls.make(BODY, { endsAfterSeconds: 1 })).requestId;
    await answerLost();
    calls.wait(5);
    const second = await answerLost();
    expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(second);

    calls.wait(5);
    const third = await answerLost();
    const retries = [await calls.make(BODY, { retry: 1 }), await calls.make(BODY, { retry: 2 })];
    expect(retries.map(requestIn)).toEqual([third, third]);
  });

  /** Two calls at once. The connection of the first breaks, and its retry takes the request of the second, which waits. */
  const callsThatSwap = async (meanwhile: (first: string) => void) => {
    const answers: { headers: Record<string, unknown> }[] = [];
    await calls.make(BODY, {
      meanwhile: onceAt(5, async () => {
        const second = await calls.make(BODY, {
          meanwhile: onceAt(5, async () => {
            const [first = '', taken = ''] = created();
            const retry = await calls.make(BODY, { retry: 1, meanwhile: () => calls.succeed(taken) });
            answers.push(retry);
            meanwhile(first);
          }),
        });
        answers.push(second);
        calls.succeed(created()[0] ?? '');
      }),
    });
    return answers.map(requestIn);
  };

  test("that take each other's requests are answered with one each", async () => {
    const answered = await callsThatSwap((first) => calls.succeed(first));

    expect(created()).toHaveLength(2);
    expect(answered).toEqual(created().toReversed());
  });

  test('leave to its retry what was answered with 408', async () => {
    const answered = await callsThatSwap((first) => {
      const isOfFirst = ({ requestId }: { requestId?: string }) => requestId === first;
      const entry = memory.partition(idempotencyPartition(ACCOUNT_ID)).find(isOfFirst);
      memory.patch(entry as never, { handedBack: true });
    });

    expect(answered).toEqual([created()[1], created()[1]]);
  });

  test('swap their requests when one is taken while its first call still waits', async () => {
    const one = await calls.make(BODY, {
      meanwhile: async (second) => {
        if (second !== 5) return;
        await calls.make(BODY);
        await calls.make(BODY, { retry: 1 });
      },
    });
    expect(one.status).toBe(408);
    const ids = created();
    for (const id of ids) calls.succeed(id);
    const last = [await calls.make(BODY, { retry: 1 }), await calls.make(BODY, { retry: 2 })];

    expect(last.map(requestIn).toSorted()).toEqual(ids.toSorted());
    expect(created()).toHaveLength(2);
  });
});
