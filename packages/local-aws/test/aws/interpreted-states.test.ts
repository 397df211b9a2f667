import { describe, expect, test } from '@jest/globals';
import { caught, single, task } from './open-machine.ts';
import { ALL, begin, endOf, LATER } from './virtual-run.ts';

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
      const { types, ends, passUntil } = begin(failingWith({ ErrorPath: '$.end.code' }), input);
      await passUntil(LATER);

      expect([ends, types()]).toEqual([['States.Runtime'], ['StateEntered']]);
    },
  );
});
