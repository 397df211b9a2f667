import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { at } from '../../builders/clocks.ts';
import { aDone, aProvider } from '../../builders/providers.ts';
import { tableError } from '../../builders/table-errors.ts';
import { ACCEPTED, attempts, memory, run, withFakedTimers } from './a-dispatch.ts';

// The pauses between two writes are random, and not 0.
jest.spyOn(Math, 'random').mockReturnValue(0.5);
const { clock, pass } = withFakedTimers();
const attempt = () => attempts()[0];

/** Dispatches to a provider whose only call the test answers; `made` resolves when the call is made. */
const dispatch = (mode: 'synchronous' | 'asynchronous' = 'synchronous', timeLeftMs?: number) => {
  const made = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ProviderAnswer>();
  const provider = aProvider(mode, 1, () => {
    made.resolve();
    return answer.promise;
  });
  const running = run(provider, clock(), timeLeftMs);
  running.catch(() => undefined);
  return { provider, made: made.promise, answer: answer.resolve, running };
};

test('a call is marked alive every 5 s until it is answered', async () => {
  const { made, answer, running } = dispatch();
  await made;

  await pass(4);
  expect(attempt()).toMatchObject({ aliveAt: at(0) });
  await pass(1);
  expect(attempt()).toMatchObject({ aliveAt: at(5) });
  await pass(12);
  expect(attempt()).toMatchObject({ aliveAt: at(15) });

  answer(aDone('a'));
  expect(await running).toEqual({ next: 'store' });
  await pass(10);
  expect(attempt()).toMatchObject({ aliveAt: at(15), outcome: aDone('a') });
});

describe('an outcome that cannot be recorded', () => {
  const throttled = () => tableError('ThrottlingException');
  const outcomes = { UpdateExpression: 'SET outcome = :outcome, taskId = :task' };
  /** The table refuses outcomes until then, in seconds from now. */
  const refuseUntil = (seconds: number, error: () => Error) => {
    const until = clock().now().getTime() + seconds * 1000;
    const asBefore = memory.client.on(UpdateCommand, outcomes);
    asBefore.callsFake(async (input) => {
      if (clock().now().getTime() < until) throw error();
      return memory.update(input);
    });
  };

  test.each([1, 60, 500])(
    'for %i s is recorded afterwards, its maker alive all the time',
    async (seconds) => {
      const { provider, made, answer, running } = dispatch('asynchronous', 600_000);
      await made;
      refuseUntil(seconds, throttled);
      const from = clock().now().getTime();
      answer(ACCEPTED);

      await pass(seconds - 1);
      expect(attempt()).not.toHaveProperty('outcome');
      expect(clock().now().getTime() - Date.parse(String(attempt()?.aliveAt))).toBeLessThan(5_001);
      await pass(4);

      expect(await running).toMatchObject({ next: 'wait' });
      expect(attempt()).toMatchObject({ taskId: 'task-1', outcome: ACCEPTED });
      expect(provider.submit).toHaveBeenCalledTimes(1);
      expect(clock().now().getTime() - from).toBeGreaterThanOrEqual(seconds * 1000);
    },
  );

  test('is given up just before the function’s end', async () => {
    const { made, answer, running } = dispatch('asynchronous', 60_000);
    await made;
    refuseUntil(3_600, throttled);
    answer(ACCEPTED);

    await pass(58);
    await expect(running).rejects.toThrow('ThrottlingException');
  });

  test('for another reason is an error at once', async () => {
    const { made, answer, running } = dispatch('asynchronous', 60_000);
    await made;
    refuseUntil(3_600, () => tableError('AccessDeniedException'));
    answer(ACCEPTED);

    await expect(running).rejects.toThrow('AccessDeniedException');
  });
});

test('a claim whose answer was lost with an error is repeated, and its call made', async () => {
  memory.afterTransaction = (times) => {
    if (times === 1) throw tableError('TimeoutError');
  };
  const { made, answer, running } = dispatch();
  await pass(1);
  await made;
  answer(aDone('a'));

  expect(await running).toEqual({ next: 'store' });
});

test('a call continues when it cannot be marked alive', async () => {
  memory.client
    .on(UpdateCommand, { UpdateExpression: 'SET aliveAt = :now REMOVE suspectedAt' })
    .rejects(new Error('no table'));
  const { provider, made, answer, running } = dispatch();
  await made;

  await pass(11);
  answer(aDone('a'));

  expect(await running).toEqual({ next: 'store' });
  expect(provider.submit).toHaveBeenCalledTimes(1);
});
