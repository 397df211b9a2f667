import { beforeEach, describe, expect, test } from '@jest/globals';
import { atSeconds } from '../unit/builders/clocks.ts';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import {
  BEGUN,
  DELIVERED,
  done,
  FAILED,
  fail,
  givenTo,
  INPUT,
  invoked,
  runGeneration,
  STORED,
  stop,
  store,
  wait,
} from './generation.ts';
import {
  balanceThousandths,
  failRequest,
  ledgerAmounts,
  putRequest,
  storedRequest,
} from './stored-request.ts';

/** The account's balance after the debit, and after the refund. */
const DEBITED = 100_000;
const REFUNDED = 104_000;

beforeEach(() => putRequest());

describe('a synchronous provider', () => {
  test('is called, its outputs are stored, and the request is settled: the state holds the id and the last step alone', async () => {
    const execution = await runGeneration({
      'dispatch-request': [store],
      ...DELIVERED,
    });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.transitions).toBe(4);
    expect(execution.invocations).toEqual([
      { functionName: 'dispatch-request', payload: { requestId: REQUEST_ID, knownSteps: expect.any(Array) } },
      { functionName: 'store-outputs', payload: { requestId: REQUEST_ID } },
      { functionName: 'settle-request', payload: { requestId: REQUEST_ID } },
    ]);

    const afterDispatch = { ...INPUT, step: { result: { next: 'store' } } };
    expect(execution.visits).toEqual([
      { state: 'Dispatch request', input: INPUT, output: afterDispatch, seconds: 0 },
      { state: 'Where does the request stand?', input: afterDispatch, output: afterDispatch, seconds: 0 },
      { state: 'Store outputs', input: afterDispatch, output: afterDispatch, seconds: 0 },
      { state: 'Settle request', input: afterDispatch, output: afterDispatch, seconds: 0 },
    ]);
  });
});

describe('an asynchronous provider', () => {
  test('is queried at the end of the wait that the step before names', async () => {
    const execution = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'query-provider': [wait(7), wait(300), store],
      ...DELIVERED,
    });

    const check = ['Wait for provider', 'Query provider', 'Where does the request stand?'];
    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([...BEGUN, ...check, ...check, ...check, ...STORED]);
    expect(waitsOf(execution)).toEqual([5, 7, 300]);
    expect(givenTo(execution, 'query-provider')).toEqual(
      Array(3).fill({ requestId: REQUEST_ID, knownSteps: expect.any(Array) }),
    );
    expect(givenTo(execution, 'store-outputs')).toEqual([{ requestId: REQUEST_ID }]);
  });

  test('has another task token for each wait', async () => {
    const execution = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'query-provider': [wait(7), store],
      ...DELIVERED,
    });

    expect(execution.tokens.issued).toEqual(['token-1', 'token-2']);
    expect(givenTo(execution, 'await-provider')).toEqual(
      execution.tokens.issued.map((taskToken, index) => ({
        requestId: REQUEST_ID,
        taskToken,
        enteredAt: atSeconds(index * 5).toISOString(),
        retries: 0,
      })),
    );
  });

  test('leaves only its last answer and the last timeout in the state, however often it is queried', async () => {
    const execution = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'query-provider': [...Array.from({ length: 20 }, () => wait(6)), store],
      ...DELIVERED,
    });

    expect(execution.visits.at(-1)?.output).toEqual({
      ...INPUT,
      step: { result: { next: 'store' } },
      silence: { Error: 'States.Timeout', Cause: '' },
    });
  });
});

describe('a step that says "fail"', () => {
  const refusal = { code: 'content_policy', message: 'The content filter refused the request.' } as const;

  test.each([
    ['dispatch', { 'dispatch-request': [fail(refusal)] }, BEGUN],
    [
      'poll',
      { 'dispatch-request': [wait(5)], 'await-provider': [done], 'query-provider': [fail(refusal)] },
      [...BEGUN, 'Wait for provider', 'Query provider', 'Where does the request stand?'],
    ],
  ])(
    'at %s fails and refunds the request, and fails the execution, with the given error',
    async (_step, script, path) => {
      const execution = await runGeneration({ ...script, 'fail-request': failRequest });

      expect(execution.status).toBe('FAILED');
      expect(execution.failure).toEqual({ Error: refusal.code, Cause: refusal.message });
      expect(execution.path).toEqual([...path, ...FAILED]);
      expect(givenTo(execution, 'fail-request')).toMatchObject([
        { requestId: REQUEST_ID, step: { result: { next: 'fail', error: refusal } } },
      ]);
      expect(storedRequest()).toMatchObject({ status: 'failed', error: refusal, refundThousandths: 4_000 });
      expect(balanceThousandths()).toBe(REFUNDED);
      expect(ledgerAmounts()).toEqual([4_000]);
    },
  );
});

describe('a step that says "stop"', () => {
  test.each([
    ['dispatch', { 'dispatch-request': [stop] }, ['dispatch-request']],
    [
      'poll',
      { 'dispatch-request': [wait(5)], 'await-provider': [done], 'query-provider': [stop] },
      ['dispatch-request', 'await-provider', 'query-provider'],
    ],
  ])('at %s ends the execution without a further call', async (_step, script, functions) => {
    const execution = await runGeneration(script);

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path.slice(-2)).toEqual(['Where does the request stand?', 'Request ended otherwise']);
    expect(invoked(execution)).toEqual(functions);
    expect(storedRequest().status).toBe('queued');
    expect(balanceThousandths()).toBe(DEBITED);
  });
});

const waitsOf = ({ visits }: Awaited<ReturnType<typeof runGeneration>>): number[] =>
  visits.flatMap(({ state, seconds }) => (state === 'Wait for provider' ? [seconds] : []));
