import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { accountKey, requestKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { aCaller } from '../builders/callers.ts';
import { ACCOUNT_ID, EMAIL } from '../builders/entities.ts';
import { onceAt, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, calls, created } = useOpenAiCalls();

const BODY = { model: 'xQI3Pro', prompt: 'a lighthouse', user: EMAIL };
const balance = () => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;
/** A call that is not answered: its connection breaks while the request is made. */
const breakOff = async (): Promise<string> =>
  (await calls.make(BODY, { meanwhile: () => undefined })).requestId;

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
  const settled = first.then(
    () => undefined,
    () => undefined,
  );
  await reached.promise;
  return {
    requestId: () => created()[0],
    goOn: async () => {
      released.resolve();
      await first;
    },
    fail: async () => {
      released.reject(new Error('not written'));
      await settled;
    },
  };
};

describe('An image that takes longer than a response may', () => {
  test('is collected also when the note of its first call reaches the table again, late', async () => {
    const { requestId } = await calls.make(BODY);
    const notes = memory.client.commandCalls(PutCommand).map(({ args }) => args[0]);
    const note = notes.find(({ input }) => input.Item?.isWriting === true);
    await expect(table.send(note as PutCommand)).rejects.toThrow('conditional');

    calls.succeed(requestId);
    expect(requestIn(await calls.make(BODY, { retry: 1 }))).toBe(requestId);
  });

  test('is answered with 408 after the time to wait, and collected by the retry without a second debit', async () => {
    const first = await calls.make(BODY);
    expect([first.status, first.headers['x-should-retry'], first.body.error.code]).toEqual([
      408,
      'true',
      'still_processing',
    ]);
    const before = balance();

    const waiting = await calls.make(BODY, { retry: 1 });
    calls.succeed(first.requestId);
    const collected = await calls.make(BODY, { retry: 2 });

    expect([waiting.status, collected.status, requestIn(collected)]).toEqual([408, 200, first.requestId]);
    expect([created(), balance()]).toEqual([[first.requestId], before]);
  });

  test('is looked at each second while the call lasts', async () => {
    const { status } = await calls.make(BODY, { endsAfterSeconds: 24 });

    expect(status).toBe(200);
  });

  test('is collected once: an equal retry later is a creation of its own', async () => {
    const { requestId } = await calls.make(BODY);
    calls.succeed(requestId);
    await calls.make(BODY, { retry: 1 });

    const again = await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });

    expect(requestIn(again)).not.toBe(requestId);
    expect(created()).toHaveLength(2);
  });

  test('is collected by one of two equal retries that race for it', async () => {
    const { requestId } = await calls.make(BODY);
    calls.succeed(requestId);

    const answers = await Promise.all([1, 2].map(() => calls.make(BODY, { retry: 1, endsAfterSeconds: 3 })));

    expect(answers.map(requestIn).filter((id) => id === requestId)).toHaveLength(1);
    expect(created()).toHaveLength(2);
  });

  test('is collected also when the answer to the claim is lost', async () => {
    const { requestId } = await calls.make(BODY);
    calls.succeed(requestId);
    // The client repeats the update.
    memory.client.on(UpdateCommand).callsFake((input) => {
      const answer = memory.update(input);
      return input.UpdateExpression.startsWith('SET collected') ? memory.update(input) : answer;
    });

    const collected = await calls.make(BODY, { retry: 1 });

    expect([requestIn(collected), created()]).toEqual([requestId, [requestId]]);
  });
});

describe('A retry after a broken connection', () => {
  test('collects the request while it is made', async () => {
    const requestId = await breakOff();
    const collected = await calls.make(BODY, { retry: 1, meanwhile: () => calls.succeed(requestId) });

    expect([requestIn(collected), created()]).toEqual([requestId, [requestId]]);
  });

  test('collects images whose answer was lost, again if the answer to the retry was lost too', async () => {
    const first = await calls.make(BODY, { endsAfterSeconds: 2 });
    const retries = [await calls.make(BODY, { retry: 1 }), await calls.make(BODY, { retry: 2 })];

    expect(retries.map(requestIn)).toEqual([first.requestId, first.requestId]);
    expect(created()).toEqual([first.requestId]);
  });

  test('waits a moment for its first call, which may not have written yet', async () => {
    let late = '';
    const collected = await calls.make(BODY, {
      retry: 1,
      meanwhile: async (second) => {
        if (second !== 1) return;
        late = (await calls.make(BODY, { endsAfterSeconds: 1 })).requestId;
      },
    });

    expect([requestIn(collected), created()]).toEqual([late, [late]]);
  });

  test('collects the request of a first call that takes seconds to write it', async () => {
    const held = await holdFirst();
    const collected = await calls.make(BODY, { retry: 1, meanwhile: onceAt(6, held.goOn) });

    expect([requestIn(collected), created()]).toEqual([held.requestId(), [held.requestId()]]);
  });

  test('is answered with 408 while its first call has not written', async () => {
    const held = await holdFirst();
    const retry = await calls.make(BODY, { retry: 1 });
    expect([retry.status, created()]).toEqual([408, []]);
    await held.goOn();
    calls.succeed(held.requestId() ?? '');

    expect(requestIn(await calls.make(BODY, { retry: 2 }))).toBe(held.requestId());
    expect(created()).toHaveLength(1);
  });

  test('makes the images when its first call has not written within 30 s, and that can then write no more', async () => {
    const held = await holdFirst();
    const before = balance() as number;
    await calls.make(BODY, { retry: 1 });
    const retry = await calls.make(BODY, { retry: 2, endsAfterSeconds: 20 });

    await expect(held.goOn()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    expect([retry.status, created()]).toEqual([200, [retry.requestId]]);
    const { debitThousandths } = memory.get(requestKey(retry.requestId)) as { debitThousandths: number };
    expect(balance()).toBe(before - debitThousandths);
  });

  test('makes the images when the first call that it waits for is refused', async () => {
    const held = await holdFirst();
    const retry = await calls.make(BODY, {
      retry: 1,
      meanwhile: onceAt(6, held.fail),
      endsAfterSeconds: 9,
    });

    expect([retry.status, created()]).toEqual([200, [retry.requestId]]);
  });

  test('makes the images when its first call died before it wrote', async () => {
    const held = await holdFirst();
    calls.wait(30);
    const retry = await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });
    await held.fail();

    expect([retry.status, created()]).toEqual([200, [retry.requestId]]);
  });

  test('makes the images when its first call made none', async () => {
    const { status, requestId } = await calls.make(BODY, { retry: 1, endsAfterSeconds: 3 });

    expect([status, created()]).toEqual([200, [requestId]]);
  });

  test('after more than 10 minutes is a creation of its own', async () => {
    await breakOff();
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
});
