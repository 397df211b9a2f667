import '../../builders/environment.ts';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aDone, aProvider, leadingTo } from '../../builders/providers.ts';
import { tableError } from '../../builders/table-errors.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory } from '../../fakes/fresh-table.ts';

beforeEach(() => {
  secrets.set('arn:callback-secret', 'secret');
  jest.useFakeTimers();
  clock = new StoppedClock();
  memory.put(requestKey(REQUEST_ID), anImageRequest());
});
afterEach(() => {
  jest.useRealTimers();
});

const attempt = () => memory.get(providerAttemptKey(REQUEST_ID, 0, 0));
let clock = new StoppedClock();

/** A provider whose only call the test answers, and a promise that resolves when the call is made. */
const aSlowProvider = (mode: 'synchronous' | 'asynchronous' = 'synchronous') => {
  const made = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ProviderAnswer>();
  const provider = aProvider(mode, 1, () => {
    made.resolve();
    return answer.promise;
  });
  return { provider, made: made.promise, answer: answer.resolve };
};

/** Advances the clock and the timers. */
const pass = async (seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1);
    await jest.advanceTimersByTimeAsync(1000);
  }
};

test('a call is marked alive every 5 s until it is answered', async () => {
  const { provider, made, answer } = aSlowProvider();
  const run = dispatchRequest(REQUEST_ID, leadingTo(provider), clock);
  await made;

  await pass(4);
  expect(attempt()).toMatchObject({ aliveAt: NOW.toISOString() });
  await pass(1);
  expect(attempt()).toMatchObject({ aliveAt: atSeconds(5).toISOString() });
  await pass(12);
  expect(attempt()).toMatchObject({ aliveAt: atSeconds(15).toISOString() });

  answer(aDone('a'));
  expect(await run).toEqual({ next: 'store' });
  await pass(10);
  expect(attempt()).toMatchObject({ aliveAt: atSeconds(15).toISOString(), outcome: aDone('a') });
  expect(jest.getTimerCount()).toBe(0);
});

describe('an outcome that cannot be recorded', () => {
  const ACCEPTED: ProviderAnswer = { kind: 'accepted', taskId: 'task-1' };
  const throttled = () => tableError('ThrottlingException');
  const outcomes = { UpdateExpression: 'SET outcome = :outcome, taskId = :task' };
  /** The table refuses outcomes until then, in seconds from now. */
  const refuseUntil = (seconds: number, error: () => Error) => {
    const until = clock.now().getTime() + seconds * 1000;
    const asBefore = memory.client.on(UpdateCommand, outcomes);
    asBefore.callsFake(async (input) => {
      if (clock.now().getTime() < until) throw error();
      return memory.update(input);
    });
  };
  const dispatch = (timeLeftMs: number) => {
    const { provider, made, answer } = aSlowProvider('asynchronous');
    const run = dispatchRequest(REQUEST_ID, leadingTo(provider), clock, timeLeftMs);
    run.catch(() => undefined);
    return { provider, made, answer, run };
  };

  test.each([1, 60, 500])(
    'for %i s is recorded afterwards, its maker alive all the time',
    async (seconds) => {
      const { provider, made, answer, run } = dispatch(600_000);
      await made;
      refuseUntil(seconds, throttled);
      const from = clock.now().getTime();
      answer(ACCEPTED);

      await pass(seconds - 1);
      expect(attempt()).not.toHaveProperty('outcome');
      expect(clock.now().getTime() - Date.parse(String(attempt()?.aliveAt))).toBeLessThan(5_001);
      await pass(4);

      expect(await run).toMatchObject({ next: 'wait' });
      expect(attempt()).toMatchObject({ taskId: 'task-1', outcome: ACCEPTED });
      expect(provider.submit).toHaveBeenCalledTimes(1);
      expect(clock.now().getTime() - from).toBeGreaterThanOrEqual(seconds * 1000);
      expect(jest.getTimerCount()).toBe(0);
    },
  );

  test('is given up just before the function’s end', async () => {
    const { made, answer, run } = dispatch(60_000);
    await made;
    refuseUntil(3_600, throttled);
    answer(ACCEPTED);

    await pass(58);
    await expect(run).rejects.toThrow('ThrottlingException');
    expect(jest.getTimerCount()).toBe(0);
  });

  test('for another reason is an error at once', async () => {
    const { made, answer, run } = dispatch(60_000);
    await made;
    refuseUntil(3_600, () => tableError('AccessDeniedException'));
    answer(ACCEPTED);

    await expect(run).rejects.toThrow('AccessDeniedException');
  });
});

test('a claim whose answer was lost with an error is repeated, and its call made', async () => {
  const { provider, made, answer } = aSlowProvider();
  memory.afterTransaction = (times) => {
    if (times === 1) throw tableError('TimeoutError');
  };
  const run = dispatchRequest(REQUEST_ID, leadingTo(provider), clock);
  await pass(1);
  await made;
  answer(aDone('a'));

  expect(await run).toEqual({ next: 'store' });
});

test('a call continues when it cannot be marked alive', async () => {
  const { provider, made, answer } = aSlowProvider();
  memory.client
    .on(UpdateCommand, { UpdateExpression: 'SET aliveAt = :now REMOVE suspectedAt' })
    .rejects(new Error('no table'));
  const run = dispatchRequest(REQUEST_ID, leadingTo(provider), new StoppedClock());
  await made;

  await pass(11);
  answer(aDone('a'));

  expect(await run).toEqual({ next: 'store' });
  expect(provider.submit).toHaveBeenCalledTimes(1);
});
