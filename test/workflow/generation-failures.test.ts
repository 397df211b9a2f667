import { beforeEach, describe, expect, test } from '@jest/globals';
import { recordOutputs } from '../../core/requests/requests.ts';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import {
  DELIVERED,
  done,
  FAILED,
  fail,
  givenTo,
  INPUT,
  runGeneration,
  STORED,
  store,
  UNEXPECTED,
  wait,
} from './generation.ts';
import { type Behaviour, fails, hangs, type Script } from './harness.ts';
import {
  balanceThousandths,
  failRequest,
  ledgerAmounts,
  pausedUntil,
  putRequest,
  settleRequest,
  storedRequest,
} from './stored-request.ts';

const WHILE_WAITING = { 'dispatch-request': wait(5) };

/** The tasks whose errors lead to another query of the provider, each with a script that reaches it. */
const RECOVERED = [
  ['Dispatch request', 'dispatch-request', {}, 0, 900],
  ['Wait for provider', 'await-provider', WHILE_WAITING, 30, undefined],
  ['Query provider', 'query-provider', { ...WHILE_WAITING, 'await-provider': done }, 30, 60],
] as const satisfies [string, string, Script, number, number | undefined][];

/** The errors that are not retried. */
const OUR_ERRORS = ['TypeError', 'ZodError', 'NotFoundError', 'ConflictError', 'AccessDeniedException'];

beforeEach(() => putRequest());

describe.each(RECOVERED)('%s', (state, task, script, seconds, _limit) => {
  test.each(OUR_ERRORS)(
    'is not retried after %s: the provider is queried again, and what it made is delivered',
    async (error) => {
      const query = task === 'query-provider' ? [fails(error), store] : store;
      const execution = await runGeneration({
        ...script,
        ...DELIVERED,
        'query-provider': query,
        ...(task === 'query-provider' ? {} : { [task]: [fails(error)] }),
      });

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.retries).toEqual([]);
      expect(execution.path.slice(execution.path.indexOf(state))).toEqual([
        state,
        ...(seconds > 0 ? ['Wait after our own fault'] : []),
        'Query provider',
        'Where does the request stand?',
        ...STORED,
      ]);
    },
  );
});

test.each(RECOVERED.filter(([, , , , limit]) => limit !== undefined))(
  '%s whose function never answers is left at its time limit, for another query',
  async (state, task, script, _seconds, limit) => {
    const execution = await runGeneration({
      ...script,
      ...DELIVERED,
      'query-provider': store,
      [task]: task === 'query-provider' ? [hangs, store] : [hangs],
    });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.visits.find((visit) => visit.state === state)?.seconds).toBe(limit);
    expect(execution.path.at(-1)).toBe('Settle request');
  },
);

test('errors of every query end with the execution’s time limit, far from the limit of its history', async () => {
  const execution = await runGeneration({
    ...WHILE_WAITING,
    'await-provider': fails('TypeError'),
    'query-provider': fails('TypeError'),
  });

  expect(execution.status).toBe('TIMED_OUT');
  // A task takes five events, another state two.
  expect(execution.transitions * 5).toBeLessThan(10_000);
});

test('an execution whose token cannot be kept goes on by queries', async () => {
  const execution = await runGeneration({
    ...DELIVERED,
    'dispatch-request': wait(5),
    'await-provider': fails('TypeError'),
    'query-provider': [...Array<Behaviour>(50).fill(wait(5)), store],
  });

  expect(execution.status).toBe('SUCCEEDED');
  expect(execution.seconds).toBe(51 * 30);
});

test('a dispatch that failed before any call fails the request, and the caller is told nothing of the error', async () => {
  const execution = await runGeneration({
    'dispatch-request': [fails('TypeError', 'table-1 is not there')],
    'query-provider': fail(UNEXPECTED),
    'fail-request': failRequest,
  });

  const Cause = expect.stringContaining('TypeError: table-1 is not there');
  expect(execution.path).toEqual([
    'Dispatch request',
    'Query provider',
    'Where does the request stand?',
    ...FAILED,
  ]);
  expect(execution.failure).toEqual({ Error: UNEXPECTED.code, Cause: UNEXPECTED.message });
  expect(givenTo(execution, 'fail-request')).toEqual([
    {
      ...INPUT,
      step: { result: { next: 'fail', error: UNEXPECTED } },
      failure: { Error: 'TypeError', Cause },
    },
  ]);
  expect(storedRequest()).toMatchObject({ status: 'failed', error: UNEXPECTED, refundThousandths: 4_000 });
  expect(balanceThousandths()).toBe(104_000);
});

describe('Store outputs', () => {
  const script = { 'dispatch-request': store };

  test.each([0, 1, 2, 3])(
    'whose function never answers %p times is repeated after a look at the tasks, and then settled',
    async (times) => {
      const execution = await runGeneration({
        ...script,
        'store-outputs': [...Array(times).fill(hangs), done],
        'query-provider': store,
        'settle-request': done,
      });

      const again = ['Store outputs', 'Query provider', 'Where does the request stand?'];
      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.path.slice(2)).toEqual([...Array(times).fill(again).flat(), ...STORED]);
      expect(execution.seconds).toBe(times * 930);
    },
  );

  test.each(OUR_ERRORS)(
    'that fails with %s fails the request and refunds it, saying nothing of the error',
    async (error) => {
      const execution = await runGeneration({
        ...script,
        'store-outputs': [fails(error, 'table-1 is not there')],
        'fail-request': failRequest,
      });

      expect(execution.failure).toEqual({ Error: UNEXPECTED.code, Cause: UNEXPECTED.message });
      expect(execution.retries).toEqual([]);
      expect(execution.path.slice(2)).toEqual(['Store outputs', ...FAILED]);
      expect(givenTo(execution, 'fail-request')).toEqual([
        {
          ...INPUT,
          step: { result: { next: 'store' } },
          failure: { Error: error, Cause: expect.any(String) },
        },
      ]);
      expect(storedRequest()).toMatchObject({
        status: 'failed',
        error: UNEXPECTED,
        refundThousandths: 4_000,
      });
      expect(balanceThousandths()).toBe(104_000);
      expect(pausedUntil()).toBeUndefined();
    },
  );
});

describe('a request of which nothing was stored', () => {
  test('fails when it is settled, once, and so does its execution', async () => {
    await recordOutputs(REQUEST_ID, [{ index: 0 }]);
    const execution = await runGeneration({
      'dispatch-request': store,
      'store-outputs': done,
      'settle-request': settleRequest,
      'fail-request': failRequest,
    });

    const error = { code: 'internal_error', message: 'None of the outputs could be stored.' };
    expect(execution.path.slice(2)).toEqual([...STORED, ...FAILED]);
    expect(execution.failure).toEqual({ Error: error.code, Cause: error.message });
    expect(storedRequest()).toMatchObject({ status: 'failed', error, refundThousandths: 4_000 });
    expect(ledgerAmounts()).toEqual([4_000]);
  });
});
