import { beforeEach, describe, expect, test } from '@jest/globals';
import { done, INPUT, runGeneration, store, wait } from './generation.ts';
import { hangs } from './harness.ts';
import { failRequest, putRequest, storedRequest } from './stored-request.ts';

beforeEach(() => putRequest());

describe('what reaches an execution while it waits:', () => {
  const SCRIPT = {
    'dispatch-request': [wait(3_000)],
    'await-provider': [done],
    'store-outputs': [done],
    'settle-request': [done],
  };
  const woken = { result: { next: 'store' } };

  test.each([1, 599, 2_999])(
    'a next step after %i s ends the wait at once, in six transitions',
    async (seconds) => {
      const execution = await runGeneration(SCRIPT, ({ tokens, at }) =>
        at(seconds, () => tokens.succeed('token-1', woken)),
      );

      expect(execution.path).toEqual([
        'Dispatch request',
        'Choose next step',
        'Wait for provider',
        'Choose next step',
        'Store outputs',
        'Settle request',
      ]);
      expect(execution.transitions).toBe(6);
      expect(execution.seconds).toBe(seconds);
      expect(execution.visits[2]?.output).toEqual({ ...INPUT, step: woken });
    },
  );

  test('the step "fail" fails the request', async () => {
    const error = { code: 'content_policy', message: 'refused' } as const;

    const execution = await runGeneration(
      { ...SCRIPT, 'store-outputs': [], 'settle-request': [], 'fail-request': failRequest },
      ({ tokens, at }) => at(9, () => tokens.succeed('token-1', { result: { next: 'fail', error } })),
    );

    expect(execution.path.slice(-2)).toEqual(['Choose next step', 'Fail request']);
    expect(storedRequest()).toMatchObject({ status: 'failed', error });
  });

  test('the step "stop" leaves a terminal request alone', async () => {
    const execution = await runGeneration(SCRIPT, ({ tokens, at }) =>
      at(9, () => tokens.succeed('token-1', { result: { next: 'stop' } })),
    );

    expect(execution.path.slice(-2)).toEqual(['Choose next step', 'Nothing left to do']);
    expect(execution.transitions).toBe(5);
  });

  test('its end leads to a query', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'query-provider': [store] });

    expect(execution.seconds).toBe(3_000);
    expect(execution.path.slice(2)).toEqual([
      'Wait for provider',
      'Query provider',
      'Choose next step',
      'Store outputs',
      'Settle request',
    ]);
    expect(execution.visits.at(-1)?.output).toMatchObject({ silence: { Error: 'States.Timeout' } });
  });

  test('a next step under an old token changes nothing', async () => {
    const refusals: unknown[] = [];
    const execution = await runGeneration(
      { ...SCRIPT, 'await-provider': done, 'query-provider': [wait(600), store] },
      ({ tokens, at }) =>
        at(3_100, () => {
          try {
            tokens.succeed('token-1', woken);
          } catch (error) {
            refusals.push((error as Error).name);
          }
        }),
    );

    expect(refusals).toEqual(['TaskTimedOut']);
    expect(execution.seconds).toBe(3_600);
  });

  test('a next step counts even before the function that keeps the token has returned', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'await-provider': [hangs] }, ({ tokens, at }) =>
      at(2, () => tokens.succeed('token-1', woken)),
    );

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.seconds).toBe(2);
  });
});
