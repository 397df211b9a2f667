import { beforeEach, describe, expect, test } from '@jest/globals';
import { BEGUN, DELIVERED, done, INPUT, runGeneration, STORED, store, wait } from './generation.ts';
import { hangs } from './harness.ts';
import { putRequest } from './stored-request.ts';

beforeEach(() => putRequest());

describe('what reaches an execution while it waits:', () => {
  const SCRIPT = {
    'dispatch-request': [wait(3_000)],
    'await-provider': [done],
    ...DELIVERED,
  };
  const woken = { result: { next: 'store' } };

  test.each([1, 599, 2_999])(
    'a next step after %i s ends the wait at once, in six transitions',
    async (seconds) => {
      const execution = await runGeneration(SCRIPT, ({ tokens, at }) =>
        at(seconds, () => tokens.succeed('token-1', woken)),
      );

      expect(execution.path).toEqual([
        ...BEGUN,
        'Wait for provider',
        'Where does the request stand?',
        ...STORED,
      ]);
      expect(execution.transitions).toBe(6);
      expect(execution.seconds).toBe(seconds);
      expect(execution.visits[2]?.output).toEqual({ ...INPUT, step: woken });
    },
  );

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
