import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { accountKey, requestKey } from '../../../core/table/keys.ts';
import { ACCOUNT_ID } from '../builders/entities.ts';
import { BODY, requestIn, useOpenAiCalls } from './openai-calls.ts';

const { memory, calls, created } = useOpenAiCalls();
const balance = () => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;

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
