import { beforeEach, describe, expect, test } from '@jest/globals';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import { done, givenTo, invoked, runGeneration, store, wait } from './generation.ts';
import { fails, hangs, type Script } from './harness.ts';
import { balanceThousandths, failRequest, pausedUntil, putRequest, storedRequest } from './stored-request.ts';

const WAIT = { result: { next: 'wait', waitSeconds: 5, timeoutSeconds: 600 } };

/** The tasks whose errors fail the request, each with a script that reaches it and the state by then. */
const CAUGHT = [
  ['Dispatch request', 'dispatch-request', {}, {}],
  ['Wait for provider', 'await-provider', { 'dispatch-request': wait(5, 600) }, { step: WAIT }],
  [
    'Query provider',
    'query-provider',
    { 'dispatch-request': wait(5, 600), 'await-provider': done },
    { step: WAIT, silence: { Error: 'States.HeartbeatTimeout', Cause: '' } },
  ],
  ['Store outputs', 'store-outputs', { 'dispatch-request': store }, { step: { result: { next: 'store' } } }],
] as const satisfies [string, string, Script, object][];

/** The tasks that end a request, each with a script that reaches it. */
const LAST = [
  ['Settle request', 'settle-request', { 'dispatch-request': store, 'store-outputs': done }],
  ['Fail request', 'fail-request', { 'dispatch-request': fails('TypeError') }],
] as const satisfies [string, string, Script][];

beforeEach(() => putRequest());

describe.each(CAUGHT)('%s', (state, task, script, leftState) => {
  test.each(['TypeError', 'ZodError', 'NotFoundError', 'ConflictError', 'AccessDeniedException'])(
    'is not retried after %s: the request fails, and "Fail request" is given error and cause',
    async (error) => {
      const execution = await runGeneration({
        ...script,
        [task]: [fails(error, 'table-1 is not there')],
        'fail-request': failRequest,
      });

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.retries).toEqual([]);
      expect(execution.path.slice(-2)).toEqual([state, 'Fail request']);
      const Cause = JSON.stringify({
        errorType: error,
        errorMessage: 'table-1 is not there',
        trace: [`${error}: table-1 is not there`],
      });
      expect(givenTo(execution, 'fail-request')).toEqual([
        { requestId: REQUEST_ID, ...leftState, failure: { Error: error, Cause } },
      ]);
    },
  );

  test('tells the caller nothing about an internal error, and refunds', async () => {
    await runGeneration({
      ...script,
      [task]: [fails('TypeError', 'table-1 is not there')],
      'fail-request': failRequest,
    });

    expect(storedRequest()).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error', message: 'Something unexpected went wrong on our side.' },
      refundThousandths: 4_000,
    });
    expect(balanceThousandths()).toBe(104_000);
  });
});

describe('a task whose function never answers', () => {
  test.each([
    [...CAUGHT[0], 900, 'provider_timeout'],
    [...CAUGHT[2], 60, 'provider_timeout'],
    [...CAUGHT[3], 930, 'internal_error'],
  ] as const)(
    '%s fails the request at its time limit',
    async (state, task, script, leftState, seconds, code) => {
      const execution = await runGeneration({ ...script, [task]: [hangs], 'fail-request': failRequest });

      expect(execution.path.slice(-2)).toEqual([state, 'Fail request']);
      expect(execution.visits.find((visit) => visit.state === state)?.seconds).toBe(seconds);
      expect(givenTo(execution, 'fail-request')).toEqual([
        {
          requestId: REQUEST_ID,
          ...leftState,
          failure: { Error: 'States.Timeout', Cause: expect.any(String) },
        },
      ]);
      expect(storedRequest()).toMatchObject({ status: 'failed', error: { code } });
      expect(pausedUntil() !== undefined).toBe(code === 'provider_timeout');
    },
  );

  test.each(LAST)('%s fails the execution after 60 s', async (state, task, script) => {
    const execution = await runGeneration({ ...script, [task]: [hangs] });

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe('States.Timeout');
    expect(execution.path.at(-1)).toBe(state);
    expect(execution.seconds).toBe(60);
  });
});

describe('a task that ends a request', () => {
  test.each(LAST)(
    '%s that fails also fails the execution: no other state may end the request',
    async (state, task, script) => {
      const execution = await runGeneration({ ...script, [task]: [fails('TypeError', 'no')] });

      expect(execution.status).toBe('FAILED');
      expect(execution.failure?.Error).toBe('TypeError');
      expect(execution.path.at(-1)).toBe(state);
      expect(invoked(execution).at(-1)).toBe(task);
      expect(execution.retries).toEqual([]);
    },
  );
});

describe('the execution', () => {
  test('times out after 2 h whatever its steps return', async () => {
    const execution = await runGeneration({
      'dispatch-request': wait(60),
      'await-provider': done,
      'query-provider': wait(60),
    });

    expect(execution.status).toBe('TIMED_OUT');
    expect(execution.seconds).toBe(7_200);
    expect(givenTo(execution, 'query-provider')).toHaveLength(119);
  });

  test('times out after 2 h despite heartbeats', async () => {
    const execution = await runGeneration(
      { 'dispatch-request': wait(60, 20_000), 'await-provider': done },
      ({ tokens, every }) => every(50, () => tokens.heartbeat('token-1')),
    );

    expect(execution.status).toBe('TIMED_OUT');
    expect(execution.seconds).toBe(7_200);
  });

  test.each([
    ['a time limit, which has no cause', { Error: 'States.Timeout' }, 'provider_timeout'],
    ['an error with an empty cause', { Error: 'Lambda.Unknown', Cause: '' }, 'internal_error'],
  ])('accepts %s as Step Functions passes it', async (_what, failure, code) => {
    await failRequest({ requestId: REQUEST_ID, failure });

    expect(storedRequest()).toMatchObject({ status: 'failed', error: { code } });
  });
});
