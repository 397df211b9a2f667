import { describe, expect, jest, test } from '@jest/globals';

import { Callbacks } from '../../src/aws/step-functions/interpreter/callbacks.ts';
import { type Clock, systemClock } from '../../src/aws/step-functions/interpreter/clock.ts';
import { readDefinition } from '../../src/aws/step-functions/interpreter/definition.ts';
import { TaskError } from '../../src/aws/step-functions/interpreter/errors.ts';
import type { RunEvent } from '../../src/aws/step-functions/interpreter/events.ts';
import type { Host } from '../../src/aws/step-functions/interpreter/host.ts';
import { runDefinition } from '../../src/aws/step-functions/interpreter/run.ts';
import { TemplateError } from '../../src/template/assembly.ts';
import { caught, single, task } from './open-machine.ts';

/** A clock that jumps to the next timer once nothing else can go on. */
const virtualClock = () => {
  let now = 0;
  let timers: { at: number; act: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    after(milliseconds, act) {
      const timer = { at: now + milliseconds, act };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    clock,
    left: () => timers.length,
    async passUntil(end: number) {
      await settle();
      for (;;) {
        const next = timers.toSorted((a, b) => a.at - b.at)[0];
        if (!next || next.at > end) break;
        now = next.at;
        timers = timers.filter((timer) => timer !== next);
        next.act();
        await settle();
      }
      now = end;
    },
  };
};

const LATER = 10_000_000;

/** Begins a run in virtual time. By default its tasks return their parameters. */
const begin = (definition: object, input: unknown, host: Partial<Host> = {}) => {
  const time = virtualClock();
  const events: RunEvent[] = [];
  const ends: unknown[] = [];
  const callbacks = new Callbacks();
  let tokens = 0;
  const run = runDefinition(readDefinition('machine', JSON.stringify(definition)), input, {
    ...{ clock: time.clock, random: () => 0.5, context: {}, callbacks },
    makeToken: () => `token ${++tokens}`,
    call: async (parameters) => parameters,
    observe: (event) => events.push(event),
    ...host,
  });
  run.result.then(
    (output) => ends.push(output),
    (error: Error) => ends.push(error.name),
  );
  return { ...time, run, events, callbacks, ends, types: () => events.map(({ type }) => type) };
};
/** Runs to the end, and returns the output or the name of the error. */
const endOf = async (...given: Parameters<typeof begin>) => {
  const { ends, passUntil } = begin(...given);
  await passUntil(LATER);
  expect(ends).toHaveLength(1);
  return ends[0];
};

const failing = async () => {
  throw new TaskError('Busy', 'try later');
};
const hanging = () => new Promise(() => undefined);
const ALL = { ErrorEquals: ['States.ALL'], Next: 'Done' };
const underToken = (rest: object = {}) =>
  task(
    { 'token.$': '$$.Task.Token' },
    { Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken', ...rest },
  );
const mapOf = (state: object, rest: object = {}) =>
  single({
    Type: 'Map',
    ItemProcessor: { StartAt: 'Work', States: { Work: { ...state, End: true } } },
    ...rest,
  });
/** Of the item that it is given. */
const work = (rest: object = {}) => task({ 'item.$': '$' }, rest);
const itemOf = (parameters: unknown) => (parameters as { item: number }).item;

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

describe('a choice', () => {
  const choose = (more: object = { Default: 'No' }) => ({
    StartAt: 'Choose',
    States: {
      Choose: {
        ...{ Type: 'Choice', ...more },
        Choices: [
          { Variable: '$.a', StringEquals: 'x', Next: 'Yes' },
          { Variable: '$.a', StringEquals: 'x', Next: 'No' },
          { Variable: '$$.State.Name', StringEquals: 'Other', Next: 'Yes' },
        ],
      },
      Yes: task({ is: 'yes' }, { End: true }),
      No: task({ is: 'no' }, { End: true }),
    },
  });

  test.each([
    [{ a: 'x' }, { is: 'yes' }],
    [{ a: 'y' }, { is: 'no' }],
    [{ a: 1 }, { is: 'no' }],
    [{ a: null }, { is: 'no' }],
    // Its default is not taken.
    [{}, 'States.Runtime'],
  ])('about %j ends with %j', async (input, end) => {
    expect(await endOf(choose(), input)).toEqual(end);
  });

  test('without a match or a default fails the execution', async () => {
    expect(await endOf(choose({}), { a: 'y' })).toBe('States.NoChoiceMatched');
  });
});

test.each([
  [{ Seconds: 3 }, {}, 3_000],
  [{ SecondsPath: '$.pause' }, { pause: 5 }, 5_000],
  [{ SecondsPath: '$.pause' }, { pause: 1.5 }, 'States.Runtime'],
  [{ SecondsPath: '$.pause' }, { pause: -1 }, 'States.Runtime'],
  [{ SecondsPath: '$.pause' }, {}, 'States.Runtime'],
])('a Wait of %j with %j takes %s, and gives on its input', async (wait, input, expected) => {
  const { ends, passUntil } = begin(single({ Type: 'Wait', ...wait }), input);
  if (typeof expected === 'string') {
    await passUntil(LATER);
    expect(ends).toEqual([expected]);
    return;
  }
  await passUntil(expected - 1);
  expect(ends).toEqual([]);
  await passUntil(expected);
  expect(ends).toEqual([input]);
});

describe('data flow', () => {
  /** Tasks that return the `result` of their parameters. */
  const call = async (parameters: unknown) => (parameters as { result: unknown }).result;

  test.each([
    ['no parameters', { Parameters: undefined }, { result: 1 }, 1],
    ['a result that is null', { Parameters: { result: null } }, { a: 1 }, null],
    ['a path of it', { Parameters: { 'result.$': '$.a[1].b' } }, { a: [0, { b: 2 }] }, 2],
    ['a quoted path', { Parameters: { 'result.$': "$['a b']" } }, { 'a b': 2 }, 2],
    ['nested parameters', { Parameters: { result: { x: [{ 'y.$': '$.a' }] } } }, { a: 1 }, { x: [{ y: 1 }] }],
    ['ResultSelector', { ResultSelector: { 'c.$': '$.b' } }, { a: 1 }, { c: 2 }],
    ['ResultPath $', { ResultPath: '$' }, { a: 1 }, { b: 2 }],
    ['ResultPath null', { ResultPath: null }, { a: 1 }, { a: 1 }],
    ['a nested ResultPath', { ResultPath: '$.b.c' }, { a: 1 }, { a: 1, b: { c: { b: 2 } } }],
    [
      'a result that is false',
      { Parameters: { result: false }, ResultPath: '$.b' },
      { a: 1 },
      { a: 1, b: false },
    ],
    ['OutputPath', { ResultPath: '$.b', OutputPath: '$.b.b' }, { a: 1 }, 2],
    ['OutputPath null', { OutputPath: null }, { a: 1 }, {}],
  ])('%s', async (_case, fields, input, expected) => {
    const state = { ...task({ result: { b: 2 } }), ...fields };

    expect(await endOf(single(state), input, { call })).toEqual(expected);
  });

  test('the context object is that of the host, with the state', async () => {
    const Parameters = {
      result: {
        'name.$': '$$.Execution.Name',
        'state.$': '$$.State.Name',
        'entered.$': '$$.State.EnteredTime',
      },
    };
    const context = { Execution: { Name: 'one' } };

    expect(await endOf(single(task(Parameters)), {}, { call, context })).toEqual({
      ...{ name: 'one', state: 'Only', entered: '1970-01-01T00:00:00.000Z' },
    });
  });

  test('a missing path fails the execution, and is not caught', async () => {
    expect(await endOf(caught(task({ 'a.$': '$.nothing' }), [ALL]), {})).toBe('States.Runtime');
  });

  test.each([{ a: 'text' }, { a: [1] }, { a: null }])(
    'a result that finds no place in %j can be caught',
    async (input) => {
      const Catch = [{ ErrorEquals: ['States.ResultPathMatchFailure'], Next: 'Done' }];
      const end = await endOf(caught(task({}, { ResultPath: '$.a.b' }), Catch), input);

      expect(end).toMatchObject({ Error: 'States.ResultPathMatchFailure' });
    },
  );
});

describe('a Fail state', () => {
  const failingWith = (fields: object) => single({ Type: 'Fail', End: undefined, ...fields });
  const failureOf = async (fields: object, input: object) => {
    const { events, ends, passUntil } = begin(failingWith(fields), input);
    await passUntil(LATER);
    expect(events.map(({ type }) => type)).toEqual(['StateEntered']);
    return ends;
  };

  test.each([
    ['texts', { Error: 'Late', Cause: 'too late' }, ['Late', 'too late']],
    ['paths', { ErrorPath: '$.end.code', CausePath: '$.end.text' }, ['content_policy', 'Refused.']],
    ['a path of the context', { ErrorPath: '$$.Execution.Name' }, ['one', '']],
    ['nothing', {}, ['', '']],
  ])('ends the execution by %s', async (_what, fields, [error, cause]) => {
    const thrown: unknown[] = [];
    const time = begin(
      failingWith(fields),
      { end: { code: 'content_policy', text: 'Refused.' } },
      { context: { Execution: { Name: 'one' } } },
    );
    time.run.result.catch((error: unknown) => thrown.push(error));
    await time.passUntil(LATER);

    expect(thrown).toEqual([expect.objectContaining({ name: error, message: cause })]);
  });

  test.each([{}, { end: {} }, { end: { code: 7 } }, { end: { code: null } }])(
    'whose path leads to no text fails as States.Runtime: %j',
    async (input) => {
      expect(await failureOf({ ErrorPath: '$.end.code' }, input)).toEqual(['States.Runtime']);
    },
  );
});

describe('a definition is refused', () => {
  const rule = (fields: object) => ({
    Type: 'Choice',
    End: undefined,
    Choices: [{ Variable: '$', ...fields }],
  });
  test.each([
    [
      'a path that selects several values',
      task({ 'a.$': '$.list[*].b' }),
      'the path $.list[*].b cannot be run',
    ],
    ['the item of a Map', task({ 'a.$': '$$.Map.Item.Value' }), 'the path $$.Map.Item.Value cannot be run'],
    ['an intrinsic function', task({ 'a.$': 'States.UUID()' }), 'the path States.UUID() cannot be run'],
    ['a state of another type', { Type: 'Parallel' }, 'a state of type Parallel'],
    ['a type that objects have', { Type: 'constructor' }, 'a state of type constructor'],
    ['another comparison', rule({ NumericEquals: 1 }), 'NumericEquals cannot be run'],
    ['a combined one', rule({ Not: {} }), 'Not cannot be run'],
    [
      'a field of other types',
      { Type: 'Wait', Timestamp: '2026-01-01T00:00:00Z' },
      'Timestamp cannot be run',
    ],
    ['a heartbeat', task({}, { HeartbeatSeconds: 5 }), 'HeartbeatSeconds cannot be run'],
    ['JSONata', { Type: 'Pass', QueryLanguage: 'JSONata' }, 'QueryLanguage cannot be run'],
    [
      'another service',
      task({}, { Resource: 'arn:aws:states:::sqs:sendMessage' }),
      'arn:aws:states:::sqs:sendMessage cannot be run',
    ],
    [
      'another pattern',
      task({}, { Resource: 'arn:aws:states:::lambda:invoke.sync' }),
      'arn:aws:states:::lambda:invoke.sync cannot be run',
    ],
    ['a limit of no seconds', task({}, { TimeoutSeconds: 0 }), 'TimeoutSeconds must be a positive integer'],
    ['an unknown target', { Type: 'Pass', Next: 'Nowhere' }, 'it leads to "Nowhere"'],
    [
      'an error given twice',
      { Type: 'Fail', End: undefined, Error: 'A', ErrorPath: '$.a' },
      'it has both Error',
    ],
    [
      'an intrinsic function as cause',
      { Type: 'Fail', End: undefined, CausePath: "States.Format('{}', $.a)" },
      "the path States.Format('{}', $.a) cannot be run",
    ],
    [
      'a catch that leads nowhere',
      task({}, { Catch: [{ ...ALL, Next: 'Nowhere' }] }),
      'it leads to "Nowhere"',
    ],
  ])('with %s', (_what, state, message) => {
    const read = () => readDefinition('machine', JSON.stringify(single(state)));

    expect(read).toThrow(TemplateError);
    expect(read).toThrow(`State machine machine: state "Only": ${message}`);
  });

  test.each([
    ['an unknown start', { StartAt: 'Nowhere', States: {} }, 'StartAt names no state: Nowhere'],
    ['JSONata', { ...single({ Type: 'Pass' }), QueryLanguage: 'JSONata' }, 'QueryLanguage cannot be run'],
    [
      'a name twice',
      mapOf({ Type: 'Pass' }, { ItemProcessor: single({ Type: 'Pass' }) }),
      'two states are named "Only"',
    ],
    [
      'a catch out of its Map',
      mapOf(work({ Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Only' }] })),
      'state "Work": it leads to "Only"',
    ],
  ])('with %s', (_what, definition, message) => {
    expect(() => readDefinition('machine', JSON.stringify(definition))).toThrow(message);
  });
});
