import '../../builders/environment.ts';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { dispatchRequest } from '../../../../core/workflow/dispatch-request.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aDone, aProvider, leadingTo } from '../../builders/providers.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const secrets = new MemorySecrets();
beforeEach(() => {
  secrets.reset();
  secrets.set('arn:callback-secret', 'secret');
  jest.useFakeTimers();
  memory.reset();
  memory.put(requestKey(REQUEST_ID), anImageRequest());
});
afterEach(() => {
  jest.useRealTimers();
});

const attempt = () => memory.get(providerAttemptKey(REQUEST_ID, 0, 0));
const clock = new StoppedClock();

/** A provider whose only call the test answers, and a promise that resolves when the call is made. */
const aSlowProvider = () => {
  const made = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ProviderAnswer>();
  const provider = aProvider('synchronous', 1, () => {
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

test('a call continues when it cannot be marked alive', async () => {
  const { provider, made, answer } = aSlowProvider();
  memory.client.on(UpdateCommand, { UpdateExpression: 'SET aliveAt = :now' }).rejects(new Error('no table'));
  const run = dispatchRequest(REQUEST_ID, leadingTo(provider), new StoppedClock());
  await made;

  await pass(11);
  answer(aDone('a'));

  expect(await run).toEqual({ next: 'store' });
  expect(provider.submit).toHaveBeenCalledTimes(1);
});
