import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { accountKey, idempotencyPartition, requestKey } from '../../../core/table/keys.ts';
import { aCaller } from '../builders/callers.ts';
import { ACCOUNT_ID } from '../builders/entities.ts';
import { BODY, onceAt, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, calls, created } = useOpenAiCalls();
const balance = () => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;

/** A call that is not answered: its connection breaks while the request is made, and its function waits on. */
const breakOff = async (act: () => Promise<void>): Promise<{ requestId: string; status: number }> =>
  calls.make(BODY, { meanwhile: onceAt(2, act) });

/** A first call that waits before its transaction. `goOn` and `fail` end the wait. */
const holdFirst = async () => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  memory.beforeTransaction = (attempt) => {
    if (attempt > 1) return;
    reached.resolve();
    return released.promise;
  };
  const first = calls.make(BODY, { meanwhile: () => calls.succeed(created()[0] ?? '') });
  await reached.promise;
  return {
    goOn: () => {
      released.resolve();
      return first;
    },
    fail: () => {
      released.reject(new Error('not written'));
      return first;
    },
  };
};

describe('A retry after a broken connection', () => {
  test('takes the request over while it is made: the first call ends with 408 at its next check', async () => {
    let collected = {} as { headers: Record<string, unknown> };
    const first = await breakOff(async () => {
      collected = await calls.make(BODY, { retry: 1, meanwhile: () => calls.succeed(created()[0] ?? '') });
    });

    expect([first.status, requestIn(collected), created()]).toEqual([
      408,
      first.requestId,
      [first.requestId],
    ]);
  });

  /** Another call takes the only request over, as it does in the table. */
  const takeOver = (): void => {
    for (const item of memory.partition(idempotencyPartition(ACCOUNT_ID)))
      memory.patch(item as { PK: string; SK: string }, { waiter: 'another call' });
  };

  test('ends the former call at its next check, though the request goes on', async () => {
    const seconds: number[] = [];
    const { status } = await calls.make(BODY, {
      meanwhile: (second) => {
        if (seconds.push(second) === 3) takeOver();
      },
    });

    expect([status, seconds.length, created().length]).toEqual([408, 3, 1]);
  });

  test('that takes the request while its images are read for the former call gets them alone', async () => {
    memory.client.on(UpdateCommand).callsFake((input) => {
      if (input.ExpressionAttributeValues?.[':state'] === 'answered') takeOver();
      return memory.update(input);
    });

    expect((await calls.make(BODY, { endsAfterSeconds: 1 })).status).toBe(408);
    expect(memory.partition(idempotencyPartition(ACCOUNT_ID))).toMatchObject([
      { state: 'open', waiter: 'another call' },
    ]);
  });

  test('gets images whose answer was lost within 10 s, as URLs, again and again', async () => {
    const first = await calls.make(BODY, { endsAfterSeconds: 2 });
    const retries = [await calls.make(BODY, { retry: 1 }), await calls.make(BODY, { retry: 2 })];

    expect(retries.map(requestIn)).toEqual([first.requestId, first.requestId]);
    expect(first.body.data).toMatchObject([{ b64_json: expect.any(String) }]);
    expect(retries.map(({ body }) => body.data)).toEqual(Array(2).fill([{ url: expect.any(String) }]));
    expect(created()).toEqual([first.requestId]);
  });

  test.each(['at once', 'one after the other'])(
    'gets images of its own where the answers to two equal calls were lost: %s',
    async (when) => {
      const meanwhile = onceAt(2, async () => {
        for (const id of created()) calls.succeed(id);
      });
      const firsts = await Promise.all([1, 2].map(() => calls.make(BODY, { meanwhile })));
      const retry = () => calls.make(BODY, { retry: 1 });
      const retries =
        when === 'at once' ? await Promise.all([retry(), retry()]) : [await retry(), await retry()];

      expect(firsts.map(({ status }) => status)).toEqual([200, 200]);
      expect(retries.map(requestIn).toSorted()).toEqual(created().toSorted());
      expect(created()).toHaveLength(2);
    },
  );

  test('is a creation of its own where equal images were answered 10 s ago', async () => {
    const first = await calls.make(BODY, { endsAfterSeconds: 2 });
    calls.wait(10);
    const retry = await calls.make(BODY, { retry: 1, endsAfterSeconds: 4 });

    expect(requestIn(retry)).not.toBe(first.requestId);
  });

  test('waits a moment for its first call, which may not have written yet', async () => {
    let late = '';
    const collected = await calls.make(BODY, {
      retry: 1,
      meanwhile: onceAt(0.9, async () => {
        late = (await calls.make(BODY)).requestId;
        calls.succeed(late);
      }),
    });

    expect([requestIn(collected), created()]).toEqual([late, [late]]);
  });

  test('makes the images when its first call is about to write them, and that can then write no more', async () => {
    const held = await holdFirst();
    const before = balance() as number;
    const retry = await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });
    const first = await held.goOn();

    expect([retry.status, first.status, created()]).toEqual([200, 408, [retry.requestId]]);
    const { debitThousandths } = memory.get(requestKey(retry.requestId)) as { debitThousandths: number };
    expect(balance()).toBe(before - debitThousandths);
  });

  test('makes the images when its first call died before it wrote', async () => {
    const held = await holdFirst();
    const retry = await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });

    expect([retry.status, created()]).toEqual([200, [retry.requestId]]);
    await expect(held.fail()).resolves.toMatchObject({ status: 408 });
  });

  test('takes what its first call wrote in the moment that it was about to take its place', async () => {
    const held = await holdFirst();
    memory.client.on(DeleteCommand).callsFakeOnce(async (input) => {
      void held.goOn();
      while (created().length === 0) await new Promise(setImmediate);
      return memory.delete(input);
    });
    const retry = await calls.make(BODY, { retry: 1, meanwhile: () => calls.succeed(created()[0] ?? '') });

    expect([requestIn(retry), created().length]).toEqual([created()[0], 1]);
  });

  test('makes the images when its first call made none', async () => {
    const { status, requestId } = await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });

    expect([status, created()]).toEqual([200, [requestId]]);
  });

  test('after more than 10 minutes is a creation of its own', async () => {
    await calls.make(BODY);
    calls.wait(10 * 60);
    await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });

    expect(created()).toHaveLength(2);
  });

  test.each([
    ['another body', { ...BODY, n: 2 }, false],
    ['another API key', BODY, true],
  ])('of %s collects nothing', async (_, body, isOtherKey) => {
    const { requestId } = await calls.make(BODY);
    calls.succeed(requestId);
    const { headers } = await aCaller(memory);
    memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: 1 });

    const answer = await calls.make(body, { retry: 1, endsAfterSeconds: 3, ...(isOtherKey && { headers }) });

    expect(requestIn(answer)).not.toBe(requestId);
  });
});

describe('A call whose transaction fails', () => {
  const entries = () => memory.partition(idempotencyPartition(ACCOUNT_ID));

  test('leaves no entry when nothing was written', async () => {
    memory.beforeTransaction = () => Promise.reject(new Error('no'));

    await expect(calls.make(BODY)).rejects.toThrow('no');
    expect([entries(), created()]).toEqual([[], []]);
  });

  test('waits for the request when it was written after all', async () => {
    memory.afterTransaction = () => {
      memory.beforeCall = () => {
        memory.beforeCall = () => undefined;
        throw new Error('the request cannot be read');
      };
      throw new Error('lost');
    };
    const { status } = await calls.make(BODY, {
      meanwhile: () => calls.succeed(String(entries()[0]?.requestId)),
    });

    expect([status, entries().length]).toEqual([200, 1]);
  });
});
