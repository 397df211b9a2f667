import { describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '../../src/aws/step-functions/interpreter/clock.ts';
import { TaskError } from '../../src/aws/step-functions/interpreter/errors.ts';
import { caught, single, task } from './open-machine.ts';
import {
  ALL,
  begin,
  endOf,
  failing,
  hanging,
  itemOf,
  LATER,
  mapOf,
  underToken,
  work,
} from './virtual-run.ts';

test('a timer may be longer than the longest of Node.js, and can be cancelled', () => {
  jest.useFakeTimers();
  const [act, cancelled] = [jest.fn(), jest.fn()];
  systemClock.after(3_000_000_000, act);
  const cancel = systemClock.after(3_000_000_000, cancelled);

  jest.advanceTimersByTime(2_999_999_999);
  expect(act).not.toHaveBeenCalled();
  cancel();
  jest.advanceTimersByTime(1);

  expect(act).toHaveBeenCalledTimes(1);
  expect(cancelled).not.toHaveBeenCalled();
  jest.useRealTimers();
});

describe('retries', () => {
  const retrier = { ErrorEquals: ['Busy'], IntervalSeconds: 2, MaxDelaySeconds: 5, MaxAttempts: 3 };

  test.each([
    [{}, [2, 4, 5]],
    [{ JitterStrategy: 'FULL' }, [1, 2, 2.5]],
    [{ BackoffRate: 1 }, [2, 2, 2]],
    [{ MaxAttempts: 0 }, []],
  ])('take their pauses from the definition, and jitter from the host: %j', async (more, pauses) => {
    const definition = single(task({}, { Retry: [{ ...retrier, ...more }] }));
    const { events, ends, passUntil } = begin(definition, {}, { call: failing });

    await passUntil(LATER);

    expect(events.flatMap((event) => (event.type === 'StateRetried' ? [event.seconds] : []))).toEqual(pauses);
    expect(ends).toEqual(['Busy']);
  });

  test('are counted by each iteration of a Map for itself', async () => {
    const tries: unknown[] = [];
    const Parameters = { 'item.$': '$', 'retries.$': '$$.State.RetryCount' };
    const state = task(Parameters, { Retry: [{ ...retrier, MaxAttempts: 1 }], ResultPath: null });
    const call = async (parameters: unknown) => {
      tries.push(parameters);
      if (tries.length <= 2) await failing();
    };

    expect(await endOf(mapOf(state), ['a', 'b'], { call })).toEqual(['a', 'b']);
    expect(tries).toEqual([0, 1].flatMap((retries) => ['a', 'b'].map((item) => ({ item, retries }))));
  });

  test('of a task under a token have a new one each', async () => {
    const tokens: unknown[] = [];
    const call = async (parameters: unknown) => {
      tokens.push(parameters);
      if (tokens.length === 1) await failing();
    };
    const { callbacks, passUntil, ends } = begin(single(underToken({ Retry: [retrier] })), {}, { call });
    await passUntil(LATER);

    expect(tokens).toEqual([{ token: 'token 1' }, { token: 'token 2' }]);
    expect(callbacks.find('token 1')).toBeUndefined();
    callbacks.find('token 2')?.succeed('sent');
    await passUntil(LATER);
    expect(ends).toEqual(['sent']);
  });
});

test.each([
  ['States.Runtime', ALL.ErrorEquals, false],
  ['States.DataLimitExceeded', ALL.ErrorEquals, false],
  ['States.DataLimitExceeded', ['States.DataLimitExceeded'], true],
  ['States.Timeout', ALL.ErrorEquals, true],
  ['States.Timeout', ['States.TaskFailed'], false],
  ['Busy', ['States.TaskFailed'], true],
  ['Busy', ['Other', 'Busy'], true],
  ['Busy', ['Other'], false],
])('%s is caught as %j: %s', async (error, ErrorEquals, isCaught) => {
  const call = () => Promise.reject(new TaskError(error, 'it is'));
  const Catch = [{ ErrorEquals, ResultPath: '$.failure', Next: 'Done' }];

  const end = await endOf(caught(task({}), Catch), { a: 1 }, { call });

  expect(end).toEqual(isCaught ? { a: 1, failure: { Error: error, Cause: 'it is' } } : error);
});

describe('a run that is stopped', () => {
  const WAIT = { Type: 'Wait', Seconds: 60 };

  test.each([
    ['while a task waits', caught(task({}, { TimeoutSeconds: 60 }), [ALL]), hanging],
    ['while a task waits under a token', caught(underToken({ TimeoutSeconds: 60 }), [ALL]), hanging],
    [
      'before a retry',
      caught(task({}, { Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 60 }] }), [ALL]),
      failing,
    ],
    ['during a Wait in an iteration', mapOf(WAIT), hanging],
  ])(
    '%s leaves no timer and no token, enters no further state and never ends',
    async (_when, definition, call) => {
      const { run, events, ends, left, callbacks, passUntil } = begin(definition, [1, 2], { call });
      await passUntil(10_000);
      const before = events.length;

      run.stop();
      run.stop();
      await passUntil(LATER);

      expect([left(), callbacks.find('token 1')]).toEqual([0, undefined]);
      expect(events).toHaveLength(before);
      expect(ends).toEqual([]);
    },
  );

  test('ignores the result of a call that was under way', async () => {
    const gate = Promise.withResolvers<unknown>();
    const { run, types, ends, passUntil } = begin(single(task({})), {}, { call: () => gate.promise });
    await passUntil(1_000);

    run.stop();
    gate.resolve('late');
    await passUntil(LATER);

    expect([ends, types()]).toEqual([[], ['StateEntered', 'TaskScheduled']]);
  });
});

test('an iteration that fails stops the others, which are not attempted again', async () => {
  const tries: number[] = [];
  const state = work({ Retry: [{ ErrorEquals: ['Slow'], IntervalSeconds: 60 }] });
  const { types, ends, left, passUntil } = begin(mapOf(state), [1, 2, 3], {
    call: async (parameters) => {
      tries.push(itemOf(parameters));
      if (itemOf(parameters) === 1) throw new TaskError('Slow', '');
      return itemOf(parameters) === 2 ? failing() : hanging();
    },
  });

  await passUntil(LATER);

  expect([tries, ends, left()]).toEqual([[1, 2, 3], ['Busy'], 0]);
  expect(types().filter((type) => /Failed$/.test(type))).toEqual([
    'TaskFailed',
    'TaskFailed',
    'MapIterationFailed',
    'StateFailed',
  ]);
});

test('iterations of a Map run so many at once', async () => {
  let [atOnce, most] = [0, 0];
  const call = async (parameters: unknown) => {
    most = Math.max(most, ++atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    return itemOf(parameters);
  };

  const { ends, passUntil } = begin(
    mapOf(work(), { MaxConcurrency: 2, ItemsPath: '$.all' }),
    { all: [1, 2, 3, 4, 5] },
    { call },
  );
  while (ends.length === 0) await passUntil(LATER);

  expect([ends, most]).toEqual([[[1, 2, 3, 4, 5]], 2]);
});

test('the items of a distributed Map run within the execution where the host starts none of their own', async () => {
  const ProcessorConfig = { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' };
  const ItemProcessor = { ProcessorConfig, StartAt: 'Work', States: { Work: { ...work(), End: true } } };
  const definition = single({ Type: 'Map', ToleratedFailurePercentage: 100, ItemProcessor });
  const call = async (parameters: unknown) => (itemOf(parameters) === 2 ? failing() : parameters);

  expect(await endOf(definition, [1, 2, 3], { call })).toEqual([{ item: 1 }, { item: 3 }]);
});

test.each([
  ['TimeoutSeconds', { TimeoutSeconds: 60 }],
  ['TimeoutSecondsPath', { TimeoutSecondsPath: '$.limit' }],
])(
  'a task under a token over its %s times out at its time, and its token is unknown',
  async (_field, limit) => {
    const { ends, types, callbacks, passUntil } = begin(single(underToken(limit)), { limit: 60 });

    await passUntil(59_999);
    expect([ends, callbacks.find('token 1')]).toEqual([[], expect.anything()]);
    await passUntil(60_000);

    expect([ends, callbacks.find('token 1')]).toEqual([['States.Timeout'], undefined]);
    expect(types()).toContain('TaskTimedOut');
  },
);

test('a token can be used before its function has returned, whose answer then counts for nothing', async () => {
  const gate = Promise.withResolvers<unknown>();
  const { callbacks, ends, types, passUntil } = begin(single(underToken()), {}, { call: () => gate.promise });
  await passUntil(1_000);

  callbacks.find('token 1')?.succeed({ early: true });
  gate.resolve('ignored');
  await passUntil(LATER);

  expect(ends).toEqual([{ early: true }]);
  expect(types()).not.toContain('TaskSubmitted');
});

test.each([0, -1, 2.5, '5', undefined])(
  'a limit of %j fails the execution: nothing catches it, and the task is not called',
  async (limit) => {
    const definition = caught(task({}, { TimeoutSecondsPath: '$.limit' }), [ALL]);
    const { ends, types, passUntil } = begin(definition, { limit });
    await passUntil(LATER);

    expect([ends, types()]).toEqual([['States.Runtime'], ['StateEntered']]);
  },
);
