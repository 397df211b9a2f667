import { beforeEach, describe, expect, test } from '@jest/globals';
import { NOW } from '../unit/builders/clocks.ts';
import { anImageRequest } from '../unit/builders/entities.ts';
import { REFUSED } from './asl.ts';
import {
  done,
  FAILED,
  fail,
  givenTo,
  invoked,
  runGeneration,
  store,
  UNEXPECTED,
  wait,
} from './generation.ts';
import { answers, type Behaviour, fails, hangs, type Script } from './harness.ts';
import { executions, failRequest, putRequest, realFunctions, storedRequest } from './stored-request.ts';
import { stubProvider } from './stub-provider.ts';

const GONE = 'Lambda.ResourceNotFoundException';
/** The tasks that end a request, each with a script that reaches it. */
const LAST = [
  ['Settle request', 'settle-request', { 'dispatch-request': store, 'store-outputs': done }],
  ['Fail request', 'fail-request', { 'dispatch-request': fail(UNEXPECTED) }],
] as const satisfies [string, string, Script][];

beforeEach(() => putRequest());

describe('a request that someone else ended', () => {
  const ended = { code: 'provider_error', message: 'An operator has ended it.' } as const;

  test.each([
    ['failed', 'FAILED'],
    ['succeeded', 'SUCCEEDED'],
  ] as const)(
    'and that has %s ends its execution as %s, whichever step finds it',
    async (status, expected) => {
      const request = anImageRequest({
        status,
        finishedAt: NOW.toISOString(),
        ...(status === 'failed' && { error: ended }),
      });
      const functions = realFunctions(stubProvider('synchronous', { submit: [] }));
      for (const script of [
        functions,
        { ...functions, 'dispatch-request': wait(5) },
        { ...functions, 'dispatch-request': wait(5), 'await-provider': done },
        { ...functions, 'dispatch-request': store, 'store-outputs': done },
        { ...functions, 'dispatch-request': fail(UNEXPECTED) },
      ]) {
        putRequest(request);
        const execution = await runGeneration(script, ({ tokens }) => {
          executions.waitingTokens = tokens;
        });

        expect(execution.status).toBe(expected);
        expect(execution.failure).toEqual(
          status === 'failed' ? { Error: ended.code, Cause: ended.message } : undefined,
        );
      }
    },
  );
});

describe.each(LAST)(
  '%s fails the execution, for the reconciler: no other state may end the request',
  (state, task, script) => {
    test.each<[string, Behaviour[], string, number]>([
      ['after 60 s when its function never answers', [hangs], 'States.Timeout', 60],
      ['at once by an error of ours', [fails('TypeError', 'no')], 'TypeError', 0],
      ['at once without its function', [fails(GONE)], GONE, 0],
      ['within 75 min when it may not call its function', Array(151).fill(fails(REFUSED)), REFUSED, 75 * 60],
    ])('%s', async (_when, behaviours, error, atMostSeconds) => {
      const execution = await runGeneration({ ...script, [task]: behaviours });

      expect(execution.status).toBe('FAILED');
      expect(execution.failure?.Error).toBe(error);
      expect(execution.path.at(-1)).toBe(state);
      expect(invoked(execution).at(-1)).toBe(task);
      expect(execution.retries).toHaveLength(behaviours.length - 1);
      expect(execution.seconds).toBeLessThanOrEqual(atMostSeconds);
    });
  },
);

describe('a function that is gone', () => {
  test('Query provider without its function fails the execution at once, for the reconciler', async () => {
    const execution = await runGeneration({
      'dispatch-request': wait(60),
      'await-provider': done,
      'query-provider': [fails(GONE)],
    });

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe('FunctionNotFound');
    expect(execution.path.slice(-2)).toEqual(['Query provider', 'Request left to reconciler']);
    expect(execution.seconds).toBe(60);
  });

  test.each(['await-provider', 'await-capacity'])(
    '%s without its function does not keep a request from its end',
    async (task) => {
      const isQueue = task === 'await-capacity';
      const queued = answers({ next: 'queue', route: 'route-1', timeoutSeconds: 60 });
      const execution = await runGeneration({
        [task]: fails(GONE),
        'dispatch-request': isQueue ? [queued, queued, fail(UNEXPECTED)] : wait(60),
        'query-provider': [wait(60), wait(30), fail(UNEXPECTED)],
        'fail-request': failRequest,
      });

      expect(execution.status).toBe('FAILED');
      expect(execution.path.slice(-3)).toEqual(FAILED);
      expect(storedRequest()).toMatchObject({ status: 'failed' });
    },
  );
});

describe('the execution', () => {
  test('times out after 5 h whatever its steps return', async () => {
    const execution = await runGeneration({
      'dispatch-request': wait(60),
      'await-provider': done,
      'query-provider': wait(60),
    });

    expect(execution.status).toBe('TIMED_OUT');
    expect(execution.seconds).toBe(18_000);
    expect(givenTo(execution, 'query-provider')).toHaveLength(299);
  });
});
