import { describe, expect, test } from '@jest/globals';
import { readDefinition } from '../../src/aws/step-functions/interpreter/definition.ts';
import { TemplateError } from '../../src/template/assembly.ts';
import { single, task } from './open-machine.ts';
import { ALL, mapOf, work } from './virtual-run.ts';

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
