import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { accountKey, idempotencyPartition, requestKey } from '../../../core/table/keys.ts';
import { aCaller } from '../builders/callers.ts';
import { ACCOUNT_ID, EMAIL } from '../builders/entities.ts';
import { onceAt, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, calls, created } = useOpenAiCalls();

const BODY = { model: 'xQI3Pro', prompt: 'a lighthouse', user: EMAIL };
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

describe('An image that takes longer than a response may', () => {
  test('is answered with 408, which names the request, and collected by the retry without a second debit', async () => {
    const first = await calls.make(BODY);
    expect([first.status, first.headers['x-should-retry'], first.body.error.code]).toEqual([
      408,
      'true',
      'still_processing',
    ]);
    expect(requestIn(first)).toBe(first.requestId);
    expect(first.body.error.message).toContain(first.requestId);
    const before = balance();

    const waiting = await calls.make(BODY, { retry: 1 });
    calls.succeed(first.requestId);
    const collected = await calls.make(BODY, { retry: 2 });

    expect([waiting.status, collected.status, requestIn(collected)]).toEqual([408, 200, first.requestId]);
    expect([created(), balance()]).toEqual([[first.requestId], before]);
  });

  test('is checked after 0.3, 0.6, 1, 1 … s, until the wait is over', async () => {
    const seconds: number[] = [];
    await calls.make(BODY, { meanwhile: (second) => void seconds.push(Number(second.toFixed(1))) });

    expect(seconds.slice(0, 5)).toEqual([0.3, 0.9, 1.9, 2.9, 3.9]);
    expect(seconds.at(-1)).toBe(24.9);
  });

  test('is collected by clients that do not count their retries, too', async () => {
    const { requestId } = await calls.make(BODY);
    await calls.make(BODY);
    calls.succeed(requestId);

    expect(requestIn(await calls.make(BODY))).toBe(requestId);
    expect(created()).toEqual([requestId]);
  });

  test.each([0, 1])(
    'is collected once: an equal call later is a creation of its own (retry %i)',
    async (retry) => {
      const { requestId } = await calls.make(BODY);
      calls.succeed(requestId);
      await calls.make(BODY, { retry });
      calls.wait(10);

      const again = await calls.make(BODY, { retry, endsAfterSeconds: 3 });

      expect(requestIn(again)).not.toBe(requestId);
      expect(created()).toHaveLength(2);
    },
  );

  test.each([0, 1])('is collected by one of two equal calls that race for it (retry %i)', async (retry) => {
    const { requestId } = await calls.make(BODY);
    const racing = [1, 2].map(() => calls.make(BODY, { retry, endsAfterSeconds: 3 }));
    calls.succeed(requestId);
    const answers = await Promise.all(racing);

    const ids = answers.map(requestIn);
    expect(ids).toContain(requestId);
    expect(new Set(ids).size).toBe(created().length);
  });

  test('is collected also when the answers to its writes are lost, and the writes repeated', async () => {
    const { requestId } = await calls.make(BODY);
    calls.succeed(requestId);
    memory.client.on(UpdateCommand).callsFake((input) => {
      const answer = memory.update(input);
      return input.UpdateExpression.startsWith('SET #state') ? memory.update(input) : answer;
    });

    const collected = await calls.make(BODY, { retry: 1 });

    expect([requestIn(collected), created()]).toEqual([requestId, [requestId]]);
  });

  test('is left to an equal call when its answer cannot be made', async () => {
    const failing = calls.make(BODY, {
      meanwhile: () => memory.patch(requestKey(created()[0] ?? ''), { status: 'succeeded' }),
    });
    await expect(failing).rejects.toThrow();
    const [requestId = ''] = created();
    calls.succeed(requestId);

    expect(requestIn(await calls.make(BODY))).toBe(requestId);
  });

  test('is of the creation that ended first, of several', async () => {
    const [one, other] = await Promise.all([calls.make(BODY), calls.make(BODY)]);
    const [first = ''] = created();
    calls.succeed(first);

    expect(requestIn(await calls.make(BODY))).toBe(first);
    expect([one?.status, other?.status]).toEqual([408, 408]);
  });
});

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

describe('A request that failed', () => {
  test('after a 408 is told to the retry', async () => {
    const { requestId } = await calls.make(BODY);
    calls.fail(requestId, 'content_policy');

    await expect(calls.make(BODY, { retry: 1 })).rejects.toMatchObject({ code: 'content_policy' });
    expect(created()).toEqual([requestId]);
  });

  test('and was told is not collected: it is refunded, and the retry makes another', async () => {
    const failing = calls.make(BODY, { meanwhile: () => calls.fail(created()[0] ?? '', 'provider_error') });
    await expect(failing).rejects.toMatchObject({ code: 'provider_error' });

    await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });

    expect(created()).toHaveLength(2);
  });
});

describe('A request that was deleted', () => {
  const remove = () => memory.remove(requestKey(created()[0] ?? ''));
  const GONE = { code: 'not_found' };

  test('while its call waits is 404 at once, and for its retry', async () => {
    const seconds: number[] = [];
    const first = calls.make(BODY, {
      meanwhile: (second) => {
        seconds.push(second);
        remove();
      },
    });
    await expect(first).rejects.toMatchObject(GONE);
    await expect(calls.make(BODY, { retry: 1 })).rejects.toMatchObject(GONE);

    expect([seconds.length, created().length]).toEqual([1, 1]);
  });

  test('after a 408 is 404 once: the next call makes another', async () => {
    await calls.make(BODY);
    remove();

    await expect(calls.make(BODY)).rejects.toMatchObject(GONE);
    await calls.make(BODY, { endsAfterSeconds: 3 });
    expect(created()).toHaveLength(2);
  });
});

describe('A call with an Idempotency-Key of its own', () => {
  test('is the same request however often it is sent, retry or not', async () => {
    const { headers } = await aCaller(memory);
    const key = { ...headers, 'Idempotency-Key': 'a key' };
    const first = await calls.make(BODY, { headers: key });
    calls.succeed(first.requestId);

    const later = [
      await calls.make(BODY, { headers: key }),
      await calls.make(BODY, { headers: key, retry: 1 }),
    ];

    expect(later.map(requestIn)).toEqual([first.requestId, first.requestId]);
    expect(created()).toEqual([first.requestId]);
    await expect(calls.make({ ...BODY, n: 2 }, { headers: key })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('leaves nothing for retries to collect', async () => {
    const { headers } = await aCaller(memory);
    const first = await calls.make(BODY, { headers: { ...headers, 'Idempotency-Key': 'a key' } });
    calls.succeed(first.requestId);
    const other = await calls.make(BODY, { headers, retry: 1, endsAfterSeconds: 3 });

    expect(requestIn(other)).not.toBe(first.requestId);
    expect(memory.get(requestKey(first.requestId))).toMatchObject({ status: 'succeeded' });
  });

  test('has one call that waits: a later one takes its place, and the former one is answered with 408', async () => {
    const { headers } = await aCaller(memory);
    const key = { headers: { ...headers, 'Idempotency-Key': 'a key' } };
    const later: { status: number }[] = [];
    const first = await calls.make(BODY, {
      ...key,
      meanwhile: onceAt(2, async () => {
        later.push(await calls.make(BODY, { ...key, meanwhile: () => calls.succeed(created()[0] ?? '') }));
      }),
    });

    expect([first.status, later.map(({ status }) => status), created().length]).toEqual([408, [200], 1]);
  });

  test('is answered with URLs once it was answered with bytes', async () => {
    const { headers } = await aCaller(memory);
    const key = { headers: { ...headers, 'Idempotency-Key': 'a key' } };
    await calls.make(BODY, { ...key, endsAfterSeconds: 1 });
    calls.wait(3_600);

    expect((await calls.make(BODY, key)).body.data).toEqual([{ url: expect.any(String) }]);
  });
});
