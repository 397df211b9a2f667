import { afterAll, describe, expect, test } from '@jest/globals';

import { closeMachines, open, run, single, task } from './open-machine.ts';
import { eventually, functionArn } from './support.ts';

afterAll(closeMachines);

const choice = (rule: object) => ({
  StartAt: 'Choose',
  States: {
    Choose: { Type: 'Choice', Choices: [{ ...rule, Next: 'Yes' }], Default: 'No' },
    Yes: { Type: 'Pass', Result: 'yes', End: true },
    No: { Type: 'Pass', Result: 'no', End: true },
  },
});

describe('choices', () => {
  test.each([
    [{ Variable: '$.a', IsPresent: true }, { a: 1 }, 'yes'],
    [{ Variable: '$.a', IsPresent: true }, {}, 'no'],
    [{ Variable: '$.a', IsPresent: false }, {}, 'yes'],
    [{ Variable: '$.a', IsPresent: false }, { a: null }, 'no'],
    [{ Variable: '$.a', IsNull: true }, { a: null }, 'yes'],
    [{ Variable: '$.a', IsNull: false }, { a: 1 }, 'yes'],
    [{ Variable: '$.a', IsString: false }, { a: 1 }, 'yes'],
    [{ Variable: '$.a', IsString: false }, { a: 'x' }, 'no'],
    [
      {
        And: [
          { Variable: '$.a', IsPresent: true },
          { Variable: '$.b', IsPresent: false },
        ],
      },
      { a: 1 },
      'yes',
    ],
    [{ Not: { Variable: '$.a', IsPresent: false } }, { a: 1 }, 'yes'],
    [
      {
        Or: [
          { Variable: '$.a', NumericGreaterThan: 5 },
          { Variable: '$.a', NumericEquals: 1 },
        ],
      },
      { a: 1 },
      'yes',
    ],
    [{ Variable: '$.a', NumericLessThanPath: '$.b' }, { a: 1, b: 2 }, 'yes'],
    [{ Variable: '$.a', StringMatches: 'img_*' }, { a: 'img_1' }, 'yes'],
    [{ Variable: '$.a', TimestampLessThan: '2026-01-01T00:00:00Z' }, { a: '2025-01-01T00:00:00Z' }, 'yes'],
    [{ Variable: '$$.Execution.Name', StringEquals: 'one' }, {}, 'yes'],
  ])('%j with %j: %s', async (rule, input, expected) => {
    expect((await run(choice(rule), input)).output).toBe(expected);
  });

  test('without a match or a default the execution fails', async () => {
    const { Default: _none, ...choose } = choice({ Variable: '$.a', NumericEquals: 1 }).States.Choose;
    const definition = {
      StartAt: 'Choose',
      States: {
        ...choice({}).States,
        Choose: {
          ...choose,
          Choices: [
            { Variable: '$.a', NumericEquals: 1, Next: 'Yes' },
            { Variable: '$.a', NumericEquals: 2, Next: 'No' },
          ],
        },
      },
    };

    expect(await run(definition, { a: 3 })).toMatchObject({
      status: 'FAILED',
      error: 'States.NoChoiceMatched',
    });
  });
});

describe('data flow', () => {
  test.each([
    ['a result that is null', { Type: 'Pass', Result: null }, { a: 1 }, null],
    [
      'a result that is false under a path',
      { Type: 'Pass', Result: false, ResultPath: '$.b' },
      { a: 1 },
      { a: 1, b: false },
    ],
    ['ResultPath $', { Type: 'Pass', Result: { b: 2 }, ResultPath: '$' }, { a: 1 }, { b: 2 }],
    ['ResultPath null', { Type: 'Pass', Result: { b: 2 }, ResultPath: null }, { a: 1 }, { a: 1 }],
    [
      'a nested ResultPath',
      { Type: 'Pass', Result: 2, ResultPath: '$.b.c' },
      { a: 1 },
      { a: 1, b: { c: 2 } },
    ],
    ['InputPath and OutputPath', { Type: 'Pass', InputPath: '$.a', OutputPath: '$.b' }, { a: { b: 3 } }, 3],
    ['a wait of an input path', { Type: 'Wait', Seconds: 0, InputPath: '$.a' }, { a: { b: 1 } }, { b: 1 }],
    [
      'a wait until a time that has passed',
      { Type: 'Wait', TimestampPath: '$.at' },
      { at: '2020-01-01T00:00:00Z' },
      { at: '2020-01-01T00:00:00Z' },
    ],
    ['a task without parameters', { Type: 'Task', Resource: functionArn('echo') }, { a: 1 }, { a: 1 }],
    [
      'intrinsic functions',
      task({
        'text.$': "States.Format('{}/{}', $.a, States.MathAdd($.a, 1))",
        'list.$': 'States.Array($.a, 2)',
        'json.$': 'States.StringToJson($.json)',
      }),
      { a: 1, json: '{"b":"\\"quoted\\""}' },
      { text: '1/2', list: [1, 2], json: { b: '"quoted"' } },
    ],
  ])('%s', async (_case, state, input, expected) => {
    const { output, error, cause } = await run(single(state), input);

    expect([output, error, cause]).toEqual([expected, undefined, undefined]);
  });

  test('a missing path fails the execution, and is not caught', async () => {
    const state = task(
      { 'a.$': '$.nothing' },
      { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], Next: 'Caught' },
    );
    const { End: _end, ...only } = single(state).States.Only;
    const definition = { StartAt: 'Only', States: { Only: only, Caught: { Type: 'Succeed' } } };

    expect(await run(definition)).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });

  test('a Fail state takes its error and cause from paths and intrinsic functions', async () => {
    const definition = {
      StartAt: 'Fail',
      States: {
        Fail: { Type: 'Fail', ErrorPath: '$.code', CausePath: "States.Format('because {}', $.why)" },
      },
    };

    const { status, error, cause, events } = await run(definition, { code: 'provider_timeout', why: 'late' });

    expect([status, error, cause]).toEqual(['FAILED', 'provider_timeout', 'because late']);
    expect(events.map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'FailStateEntered',
      'ExecutionFailed',
    ]);
  });

  test('the context object holds execution, machine and state, inside branches too', async () => {
    const parameters = {
      'id.$': '$$.Execution.Id',
      'name.$': '$$.Execution.Name',
      'role.$': '$$.Execution.RoleArn',
      'input.$': '$$.Execution.Input.a',
      'started.$': '$$.Execution.StartTime',
      'machine.$': '$$.StateMachine.Name',
      'state.$': '$$.State.Name',
      'entered.$': '$$.State.EnteredTime',
      'text.$': "States.Format('{}', $$.Execution.Name)",
    };
    const branch = {
      StartAt: 'Inner',
      States: { Inner: { Type: 'Pass', Parameters: parameters, End: true } },
    };

    const { output } = await run(single({ Type: 'Parallel', InputPath: '$.b', Branches: [branch] }), {
      a: 1,
      b: {},
    });

    expect(output).toEqual([
      {
        id: expect.stringMatching(/^arn:aws:states:us-east-1:000000000000:execution:machine-\d+:one$/),
        name: 'one',
        role: expect.stringMatching(/^arn:aws:iam::000000000000:role\/machine-\d+-role$/),
        input: 1,
        started: expect.stringMatching(/^\d{4}-.*Z$/),
        machine: expect.stringMatching(/^machine-\d+$/),
        state: 'Inner',
        entered: expect.stringMatching(/^\d{4}-.*Z$/),
        text: 'one',
      },
    ]);
  });
});

describe('the time limits of a task', () => {
  const limited = (rest: object) =>
    task({ a: 1 }, { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], Next: 'Caught', ...rest });
  const definitionOf = (rest: object) => ({
    StartAt: 'Limited',
    States: { Limited: limited(rest), Caught: { Type: 'Succeed' } },
  });
  const paths = { TimeoutSecondsPath: '$.timeout', HeartbeatSecondsPath: '$.heartbeat' };

  test.each([
    [{ timeout: 5, heartbeat: 5 }],
    [{ timeout: 5, heartbeat: 6 }],
    [{ timeout: 5, heartbeat: 0 }],
    [{ timeout: 0, heartbeat: 1 }],
    [{ timeout: 2.5, heartbeat: 1 }],
    [{ timeout: '5', heartbeat: 1 }],
    [{ timeout: 5 }],
  ])('%j fails the execution; nothing catches it, and the task is not called', async (input) => {
    const { status, error, events } = await run(definitionOf(paths), input);

    expect([status, error]).toEqual(['FAILED', 'States.Runtime']);
    expect(events.map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'ExecutionFailed',
    ]);
  });

  test.each([[{ timeout: 5, heartbeat: 4 }], [{ timeout: 99_999_999, heartbeat: 99_999_998 }]])(
    '%j lets the task run',
    async (input) => {
      const machine = open(definitionOf(paths), async (_principal, _resource, parameters) => {
        // Node.js turns a timer that is too long into one of a millisecond.
        await new Promise((resolve) => setTimeout(resolve, 20));
        return parameters;
      });
      machine.start('one', JSON.stringify(input));

      const stored = await eventually(
        () => machine.store.read('one'),
        (execution) => execution?.outcome !== undefined,
      );

      expect(stored?.outcome).toMatchObject({ status: 'SUCCEEDED', output: '{"a":1}' });
    },
  );

  test.each([
    [{ TimeoutSeconds: 5, HeartbeatSeconds: 5 }, /state "Limited": HeartbeatSeconds \(5\)/],
    [{ TimeoutSeconds: 0 }, /state "Limited": TimeoutSeconds must be a positive integer/],
  ])('a machine with %j is refused', (limits, message) => {
    expect(() => open(definitionOf(limits))).toThrow(message);
  });
});

describe('a Wait until a time', () => {
  const wait = single({ Type: 'Wait', TimestampPath: '$.at' });

  test.each(['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.123Z', '2020-01-01T00:00:00+02:00'])(
    'ends at once when the time has passed: %s',
    async (at) => {
      expect(await run(wait, { at })).toMatchObject({ status: 'SUCCEEDED', output: { at } });
    },
  );

  test.each(['2020-01-01', '2020-01-01 00:00:00Z', '1 January 2020', 1_577_836_800])(
    'fails the execution when it is none that ASL takes: %s',
    async (at) => {
      expect(await run(wait, { at })).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    },
  );
});
