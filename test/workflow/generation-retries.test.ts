import { beforeEach, describe, expect, test } from '@jest/globals';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import {
  BEGUN,
  DELIVERED,
  done,
  fail,
  givenTo,
  retry,
  runGeneration,
  STORED,
  store,
  wait,
} from './generation.ts';
import { answers, type Behaviour, type Execution, fails, type Script } from './harness.ts';
import { failRequest, putRequest } from './stored-request.ts';

const UNEXPECTED = { code: 'internal_error', message: 'Something unexpected went wrong.' } as const;
const inFlight = fails('ProviderCallInFlightError');
const transient = fails('Lambda.ServiceException');

const times = (count: number, behaviour: Behaviour): Behaviour[] =>
  Array.from({ length: count }, () => behaviour);
const secondsOf = ({ retries }: Execution): number[] => retries.map(({ seconds }) => seconds);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** For each task, a script that reaches it and succeeds. */
const SCRIPTS = {
  'dispatch-request': DELIVERED,
  'await-provider': {
    'dispatch-request': wait(5),
    'query-provider': store,
    ...DELIVERED,
  },
  'query-provider': {
    'dispatch-request': wait(5),
    'await-provider': done,
    ...DELIVERED,
  },
  'store-outputs': { 'dispatch-request': store, 'settle-request': done },
  'settle-request': { 'dispatch-request': store, 'store-outputs': done },
  'fail-request': { 'dispatch-request': fail(UNEXPECTED) },
} satisfies Record<string, Script>;
type Task = keyof typeof SCRIPTS;
const TASKS = Object.keys(SCRIPTS) as Task[];

/** The task's successful behaviour. */
const working = (task: Task): Behaviour => {
  if (task === 'fail-request') return answers({ status: 'failed', error: UNEXPECTED });
  return task === 'dispatch-request' || task === 'query-provider' ? store : done;
};
/** How an execution ends in which the task works at last. */
const endOf = (task: Task): string => (task === 'fail-request' ? 'FAILED' : 'SUCCEEDED');

beforeEach(() => putRequest());

describe('a busy provider', () => {
  test('is called again after each wait that the dispatch asks for, however often', async () => {
    const waits = [1, 40, ...Array<number>(100).fill(30)];
    const execution = await runGeneration({
      ...SCRIPTS['dispatch-request'],
      'dispatch-request': [...waits.map(retry), store],
    });

    const round = [...BEGUN, 'Wait for busy provider'];
    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([...waits.flatMap(() => round), ...BEGUN, ...STORED]);
    expect(execution.retries).toEqual([]);
    expect(execution.seconds).toBe(1 + 40 + 3_000);
    expect(givenTo(execution, 'dispatch-request')).toEqual(
      Array(103).fill({ requestId: REQUEST_ID, knownSteps: expect.any(Array) }),
    );
  });
});

describe('a call that another run is making', () => {
  test('is waited for like any transient error', async () => {
    const execution = await runGeneration({
      ...SCRIPTS['dispatch-request'],
      'dispatch-request': [...times(3, inFlight), store],
    });

    expect(execution.status).toBe('SUCCEEDED');
    expect(secondsOf(execution)).toEqual([2, 4, 8]);
  });
});

// Which errors each task retries is tested in definitions.test.ts.
describe.each(TASKS)('at %s,', (task) => {
  test('a transient error is retried with the same payload', async () => {
    const execution = await runGeneration({ ...SCRIPTS[task], [task]: [transient, working(task)] });

    expect(execution.status).toBe(endOf(task));
    expect(execution.retries).toMatchObject([{ seconds: 2 }]);
    const [first, second] = givenTo(execution, task);
    // Each attempt of a wait has its own token, and counts the retries of its state.
    const attempt = task === 'await-provider' ? { taskToken: 'token-2', retries: 1 } : {};
    expect(second).toEqual({ ...(first as object), ...attempt });
  });

  const throttled = fails('Lambda.TooManyRequestsException');
  test.each([60, 3_600])(
    'functions that are throttled for %i s cost the request that time and nothing else',
    async (seconds) => {
      let began: number | undefined;
      const behaviour: Behaviour = (payload) => {
        began ??= Date.now();
        return (Date.now() < began + seconds * 1000 ? throttled : working(task))(payload);
      };
      const execution = await runGeneration({ ...SCRIPTS[task], [task]: behaviour });

      expect(execution.status).toBe(endOf(task));
      expect(execution.path).not.toContain(task === 'fail-request' ? 'Settle request' : 'Fail request');
      expect(sum(secondsOf(execution))).toBeGreaterThanOrEqual(seconds);
      expect(sum(secondsOf(execution))).toBeLessThan(seconds + 31);
    },
  );
});

describe('an error of Lambda that lasts for hours', () => {
  test.each([
    ['store-outputs', 'Store outputs', 450, 3],
    ['settle-request', 'Settle request', 150, 1],
    ['fail-request', 'Fail request', 150, 1],
    ['dispatch-request', 'Dispatch request', 450, 3],
  ] as const)(
    'at %s is retried for longer than any deadline, or left to the reconciler',
    async (task, state, attempts, hours) => {
      const execution = await runGeneration({
        ...SCRIPTS[task],
        [task]: transient,
        'query-provider': fail(UNEXPECTED),
        'fail-request': failRequest,
        ...(task === 'fail-request' ? { 'fail-request': transient } : {}),
      });

      const waits = secondsOf(execution);
      expect(waits.slice(0, 6)).toEqual([2, 4, 8, 16, 30, 30]);
      expect(waits).toHaveLength(attempts);
      expect(execution.visits.filter((visit) => visit.state === state)).toHaveLength(1);
      expect(sum(waits)).toBeGreaterThan(hours * 3_600);
    },
  );
});
