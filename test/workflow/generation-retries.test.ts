import { beforeEach, describe, expect, test } from '@jest/globals';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import { LAMBDA_TRANSIENT_ERRORS } from './asl.ts';
import { done, givenTo, invoked, retry, runGeneration, store, wait } from './generation.ts';
import { type Behaviour, type Execution, fails, type Script } from './harness.ts';
import { balanceThousandths, failRequest, putRequest, storedRequest } from './stored-request.ts';

const inFlight = fails('ProviderCallInFlightError');
const contended = fails('TransientError');
const transient = fails('Lambda.ServiceException');

const times = (count: number, behaviour: Behaviour): Behaviour[] =>
  Array.from({ length: count }, () => behaviour);
const secondsOf = ({ retries }: Execution): number[] => retries.map(({ seconds }) => seconds);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** For each task, a script that reaches it and succeeds. */
const SCRIPTS = {
  'dispatch-request': { 'store-outputs': done, 'settle-request': done },
  'await-provider': {
    'dispatch-request': wait(5),
    'query-provider': store,
    'store-outputs': done,
    'settle-request': done,
  },
  'query-provider': {
    'dispatch-request': wait(5),
    'await-provider': done,
    'store-outputs': done,
    'settle-request': done,
  },
  'store-outputs': { 'dispatch-request': store, 'settle-request': done },
  'settle-request': { 'dispatch-request': store, 'store-outputs': done },
  'fail-request': { 'dispatch-request': fails('TypeError') },
} satisfies Record<string, Script>;
type Task = keyof typeof SCRIPTS;
const TASKS = Object.keys(SCRIPTS) as Task[];

/** The task's successful behaviour. */
const working = (task: Task): Behaviour =>
  task === 'dispatch-request' || task === 'query-provider' ? store : done;

beforeEach(() => putRequest());

describe('a busy provider', () => {
  test('is called again after each wait that the dispatch asks for, however often', async () => {
    const waits = [1, 40, ...Array<number>(100).fill(30)];
    const execution = await runGeneration({
      ...SCRIPTS['dispatch-request'],
      'dispatch-request': [...waits.map(retry), store],
    });

    const round = ['Dispatch request', 'Choose next step', 'Wait for busy provider'];
    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([
      ...waits.flatMap(() => round),
      ...['Dispatch request', 'Choose next step', 'Store outputs', 'Settle request'],
    ]);
    expect(execution.retries).toEqual([]);
    expect(execution.seconds).toBe(1 + 40 + 3_000);
    expect(givenTo(execution, 'dispatch-request')).toEqual(Array(103).fill({ requestId: REQUEST_ID }));
  });
});

describe('a call that another run is making', () => {
  test('is waited for in steps of 5 s', async () => {
    const execution = await runGeneration({
      ...SCRIPTS['dispatch-request'],
      'dispatch-request': [...times(3, inFlight), store],
    });

    expect(execution.status).toBe('SUCCEEDED');
    expect(secondsOf(execution)).toEqual([5, 5, 5]);
  });

  test('is waited for as long as a function can run, 15 min, and no longer', async () => {
    const execution = await runGeneration({ 'dispatch-request': inFlight, 'fail-request': failRequest });

    expect(sum(secondsOf(execution))).toBe(900);
    expect(execution.path).toEqual(['Dispatch request', 'Fail request']);
    expect(storedRequest()).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  });
});

test('each retrier counts its own attempts', async () => {
  const execution = await runGeneration({
    ...SCRIPTS['dispatch-request'],
    'dispatch-request': [...times(2, inFlight), ...times(6, transient), ...times(100, inFlight), store],
  });

  expect(execution.status).toBe('SUCCEEDED');
  expect(execution.retries).toHaveLength(108);
});

describe.each(TASKS)('a transient error of Lambda at %s', (task) => {
  test.each([...LAMBDA_TRANSIENT_ERRORS, 'TransientError'])('is retried: %s', async (error) => {
    const execution = await runGeneration({ ...SCRIPTS[task], [task]: [fails(error), working(task)] });

    expect(execution.status).toBe('SUCCEEDED');
    const own = error === 'TransientError' && (task === 'settle-request' || task === 'fail-request');
    expect(execution.retries).toEqual([{ state: expect.any(String), error, seconds: own ? 1 : 2 }]);
    const [first, second] = givenTo(execution, task);
    // Each attempt of a wait has its own token.
    const token = task === 'await-provider' ? { taskToken: 'token-2' } : {};
    expect(second).toEqual({ ...(first as object), ...token });
  });
});

describe('a lasting error of Lambda', () => {
  test.each([
    ['dispatch-request', 'Dispatch request'],
    ['await-provider', 'Wait for provider'],
    ['query-provider', 'Query provider'],
    ['store-outputs', 'Store outputs'],
  ] as const)('at %s fails and refunds the request after 6 retries', async (task, state) => {
    const execution = await runGeneration({
      ...SCRIPTS[task],
      [task]: transient,
      'fail-request': failRequest,
    });

    expect(secondsOf(execution)).toEqual([2, 4, 8, 16, 30, 30]);
    expect(execution.path.slice(-2)).toEqual([state, 'Fail request']);
    expect(storedRequest()).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect(balanceThousandths()).toBe(104_000);
  });

  test.each(['settle-request', 'fail-request'] as const)(
    'at %s fails the execution after 6 retries',
    async (task) => {
      const execution = await runGeneration({ ...SCRIPTS[task], [task]: transient });

      expect(secondsOf(execution)).toEqual([2, 4, 8, 16, 30, 30]);
      expect(execution.status).toBe('FAILED');
      expect(execution.failure?.Error).toBe('Lambda.ServiceException');
    },
  );
});

describe('a contended account, or a table out of reach,', () => {
  test.each(['settle-request', 'fail-request'] as const)('is retried at %s', async (task) => {
    const execution = await runGeneration({ ...SCRIPTS[task], [task]: [...times(3, contended), done] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(secondsOf(execution)).toEqual([1, 2, 4]);
  });

  test.each([
    ['settle-request', 'Settle request'],
    ['fail-request', 'Fail request'],
  ] as const)(
    'that stays so fails the execution at %s after 10 retries, for the reconciler',
    async (task, state) => {
      const execution = await runGeneration({ ...SCRIPTS[task], [task]: contended });

      expect(secondsOf(execution)).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 30, 30]);
      expect(execution.status).toBe('FAILED');
      expect(execution.failure).toEqual({
        Error: 'TransientError',
        Cause: expect.stringContaining('TransientError happened.'),
      });
      expect(execution.path.at(-1)).toBe(state);
      expect(invoked(execution).slice(-11)).toEqual(Array(11).fill(task));
      expect(storedRequest().status).toBe('queued');
    },
  );
});
