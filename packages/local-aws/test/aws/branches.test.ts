import { afterAll, describe, expect, test } from '@jest/globals';

import { closeMachines, open, run, single, task } from './open-machine.ts';
import { eventually } from './support.ts';

afterAll(closeMachines);

describe('maps and branches', () => {
  const map = {
    Type: 'Map',
    ItemsPath: '$.items',
    MaxConcurrency: 1,
    ItemSelector: { 'value.$': '$$.Map.Item.Value', 'index.$': '$$.Map.Item.Index' },
    ItemProcessor: { StartAt: 'Store', States: { Store: task({ 'got.$': '$.value' }, { End: true }) } },
  };

  test('a Map runs its states for each item and links their events', async () => {
    const { output, events } = await run(single(map), { items: ['a', 'b'] });

    expect(output).toEqual([{ got: 'a' }, { got: 'b' }]);
    expect(events.map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'MapStateEntered',
      'MapStateStarted',
      ...[0, 1].flatMap(() => [
        'MapIterationStarted',
        'TaskStateEntered',
        'TaskScheduled',
        'TaskStarted',
        'TaskSucceeded',
        'TaskStateExited',
        'MapIterationSucceeded',
      ]),
      'MapStateSucceeded',
      'MapStateExited',
      'ExecutionSucceeded',
    ]);
    expect(events[2]).toMatchObject({ mapStateStartedEventDetails: { length: 2 } });
    const iterations = events.filter(({ type }) => type === 'MapIterationStarted');
    expect(iterations.map(({ previousEventId }) => previousEventId)).toEqual([3, 3]);
  });

  test('iterations that run at once have a history each: an event names the one before it in its own', async () => {
    const { MaxConcurrency: _one, ...together } = map;

    const { events } = await run(single(together), { items: ['a', 'b', 'c'] });

    const byId = new Map(events.map((event) => [event.id, event]));
    const scheduled = events.filter(({ type }) => type === 'TaskScheduled');
    const linesOf = scheduled.map(({ previousEventId }) => {
      const entered = byId.get(previousEventId);
      return [entered?.type, byId.get(entered?.previousEventId ?? 0)?.mapIterationStartedEventDetails];
    });
    expect(linesOf).toEqual([0, 1, 2].map((index) => ['TaskStateEntered', { name: 'Only', index }]));
  });

  test('a failing branch fails the Parallel, which can be caught', async () => {
    const branch = (name: string, state: object) => ({ StartAt: name, States: { [name]: state } });
    const definition = {
      StartAt: 'Both',
      States: {
        Both: {
          Type: 'Parallel',
          Branches: [
            branch('Good', { Type: 'Succeed' }),
            branch('Bad', { Type: 'Fail', Error: 'bad', Cause: 'it is' }),
          ],
          Catch: [{ ErrorEquals: ['bad'], ResultPath: '$.failure', Next: 'Done' }],
          Next: 'Done',
        },
        Done: { Type: 'Pass', End: true },
      },
    };

    const { output, events } = await run(definition, { a: 1 });

    expect(output).toEqual({ a: 1, failure: { Error: 'bad', Cause: 'it is' } });
    expect(events.map(({ type }) => type)).toContain('ParallelStateFailed');
    expect(events.map(({ type }) => type)).not.toContain('ParallelStateSucceeded');
  });
});

test('when a branch fails, the others make no further attempt', async () => {
  const tries: unknown[] = [];
  const branch = (name: string, state: object) => ({
    StartAt: name,
    States: { [name]: { ...state, End: true } },
  });
  const definition = {
    StartAt: 'Both',
    States: {
      Both: {
        Type: 'Parallel',
        Branches: [
          branch('Fails', task({ who: 'fails' })),
          branch(
            'Retries',
            task({ who: 'retries' }, { Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 30 }] }),
          ),
        ],
        Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Done' }],
        Next: 'Done',
      },
      Done: { Type: 'Wait', Seconds: 0, End: true },
    },
  };
  const machine = open(definition, async (_principal, _resource, parameters) => {
    tries.push(parameters);
    if (tries.length === 1) await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('no');
  });

  machine.start('one', '{}');
  await eventually(
    () => machine.store.find('one')?.status,
    (status) => status === 'SUCCEEDED',
  );

  expect(tries).toEqual([{ who: 'fails' }, { who: 'retries' }]);
});

describe('a definition that cannot run locally is refused when opened', () => {
  test.each([
    ['JSONata', { QueryLanguage: 'JSONata', ...single({ Type: 'Pass' }) }, 'JSONata'],
    [
      'another service',
      single({ Type: 'Task', Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {} }),
      'state "Only": arn:aws:states:::sqs:sendMessage',
    ],
    [
      'a .sync integration',
      single({ Type: 'Task', Resource: 'arn:aws:states:::states:startExecution.sync:2', Parameters: {} }),
      'startExecution.sync',
    ],
    [
      'an unknown start',
      { StartAt: 'Nowhere', States: { Only: { Type: 'Succeed' } } },
      'StartAt names no state',
    ],
    ['an unknown target', single({ Type: 'Pass', Next: 'Nowhere' }), 'leads to "Nowhere"'],
    [
      'a catch that leads out of its branch',
      single({
        Type: 'Parallel',
        Branches: [
          {
            StartAt: 'Inner',
            States: {
              Inner: task({}, { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Only' }], End: true }),
            },
          },
        ],
      }),
      'state "Inner": it leads to "Only"',
    ],
  ])('%s', (_case, definition, message) => {
    expect(() => open(definition)).toThrow(message);
  });
});
