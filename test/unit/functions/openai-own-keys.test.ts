import { describe, expect, test } from '@jest/globals';
import { requestKey } from '../../../core/table/keys.ts';
import { aCaller } from '../builders/callers.ts';
import { BODY, onceAt, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, calls, created } = useOpenAiCalls();

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
