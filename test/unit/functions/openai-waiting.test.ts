import { describe, expect, test } from '@jest/globals';
import { idempotencyPartition } from '../../../core/table/keys.ts';
import { handler as create } from '../../../functions/api/create-openai-image.ts';
import { aCaller } from '../builders/callers.ts';
import { ACCOUNT_ID, EMAIL } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { useOpenAiCalls } from './openai-calls.ts';

const { world, memory, executions, calls, created } = useOpenAiCalls();

const bodyOf = (index: number) => ({ model: 'xQI3Pro', prompt: `lighthouse ${index}`, user: EMAIL });
/** Runs `act` while so many calls of the account wait for other images. */
const whileWaiting = async (count: number, act: () => Promise<void>): Promise<void> => {
  if (count === 0) return act();
  let acted: Promise<void> | undefined;
  await calls.make(bodyOf(count), {
    meanwhile: () => {
      acted ??= whileWaiting(count - 1, act);
      return acted;
    },
  });
};

describe('The calls of an account that wait', () => {
  test('are 10: the next is 429, to be repeated soon, before anything is read, stored or debited', async () => {
    let refusal: unknown;
    await whileWaiting(10, async () => {
      memory.client.resetHistory();
      refusal = await calls.make('{').catch((error: Error) => error);
    });

    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
    expect([created().length, memory.partition(idempotencyPartition(ACCOUNT_ID)).length]).toEqual([10, 10]);
  });

  test('give their slots back, however they end', async () => {
    await whileWaiting(9, async () => undefined);
    for (const body of ['{', { ...bodyOf(0), model: 'none' }])
      await expect(calls.make(body)).rejects.toMatchObject({ code: 'validation_error' });

    await whileWaiting(10, async () => undefined);
    expect(created()).toHaveLength(10);
  });

  test('are told so in the shape of OpenAI', async () => {
    await withEnvironment({ OPENAI_WAITING: '1' }, () =>
      whileWaiting(1, async () => {
        const { status, headers, body } = await world.call(create, { body: bodyOf(0) });
        expect([status, headers['Retry-After'], body.error.code]).toEqual([429, '5', 'rate_limit_exceeded']);
      }),
    );
    expect(executions.started).toHaveLength(1);
  });

  test('and those of all accounts are as many as an operator sets, of which one account has half', async () => {
    const codes: (string | undefined)[] = [];
    await withEnvironment({ OPENAI_WAITING_IN_ALL: '2' }, () =>
      whileWaiting(1, async () => {
        const second = calls.make(bodyOf(9));
        codes.push(
          await second.then(
            () => undefined,
            ({ code }) => code,
          ),
        );
      }),
    );
    expect(codes).toEqual(['rate_limited']);
  });

  test('of a process that died are free again when the longest wait is over', async () => {
    const { headers } = await aCaller(memory);
    await withEnvironment({ OPENAI_WAITING: '1' }, async () => {
      const dead = calls.make(bodyOf(1), { headers, meanwhile: () => new Promise(() => undefined) });
      void dead;
      while (created().length === 0) await new Promise(setImmediate);
      await expect(calls.make(bodyOf(2), { headers })).rejects.toMatchObject({ code: 'rate_limited' });
      calls.wait(24 + 60);
      expect(await calls.make(bodyOf(2), { headers, endsAfterSeconds: 1 })).toMatchObject({ status: 200 });
    });
  });
});
