import { expect, test } from '@jest/globals';

import { open, run, single, task } from './open-machine.ts';

const map = {
  Type: 'Map',
  ItemsPath: '$.items',
  MaxConcurrency: 1,
  ItemProcessor: { StartAt: 'Store', States: { Store: task({ 'got.$': '$' }, { End: true }) } },
};

test('a Map runs its states for each item and links their events', async () => {
  const { output, events, types } = await run(open(single(map)), { items: ['a', 'b'] });

  expect(output).toEqual([{ got: 'a' }, { got: 'b' }]);
  expect(types).toEqual([
    ...['ExecutionStarted', 'MapStateEntered', 'MapStateStarted'],
    ...[0, 1].flatMap(() => [
      ...['MapIterationStarted', 'TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded'],
      ...['TaskStateExited', 'MapIterationSucceeded'],
    ]),
    ...['MapStateSucceeded', 'MapStateExited', 'ExecutionSucceeded'],
  ]);
  expect(events[2]).toMatchObject({ mapStateStartedEventDetails: { length: 2 } });
  const iterations = events.filter(({ type }) => type === 'MapIterationStarted');
  expect(iterations.map(({ previousEventId }) => previousEventId)).toEqual([3, 3]);
});

test('iterations that run at once have a history each: an event names the one before it in its own', async () => {
  const { MaxConcurrency: _one, ...together } = map;

  const { events } = await run(open(single(together)), { items: ['a', 'b', 'c'] });

  const byId = new Map(events.map((event) => [event.id, event]));
  const scheduled = events.filter(({ type }) => type === 'TaskScheduled');
  const linesOf = scheduled.map(({ previousEventId }) => {
    const entered = byId.get(previousEventId);
    return [entered?.type, byId.get(entered?.previousEventId ?? 0)?.mapIterationStartedEventDetails];
  });
  expect(linesOf).toEqual([0, 1, 2].map((index) => ['TaskStateEntered', { name: 'Only', index }]));
});

test('a Fail state ends an execution with its error and cause', async () => {
  const Fail = { Type: 'Fail', End: undefined, Error: 'provider_timeout', Cause: 'late' };

  const { status, error, cause, types } = await run(open(single(Fail)));

  expect([status, error, cause]).toEqual(['FAILED', 'provider_timeout', 'late']);
  expect(types).toEqual(['ExecutionStarted', 'FailStateEntered', 'ExecutionFailed']);
});

test('the context object holds execution, machine and state', async () => {
  const Parameters = {
    ...{ 'id.$': '$$.Execution.Id', 'name.$': '$$.Execution.Name', 'role.$': '$$.Execution.RoleArn' },
    ...{ 'input.$': '$$.Execution.Input.a', 'started.$': '$$.Execution.StartTime' },
    ...{
      'machine.$': '$$.StateMachine.Name',
      'state.$': '$$.State.Name',
      'entered.$': '$$.State.EnteredTime',
    },
  };

  const { output } = await run(open(single(task(Parameters)), undefined, { name: 'm' }), { a: 1 });

  expect(output).toEqual({
    ...{ id: 'arn:aws:states:us-east-1:000000000000:execution:m:one', name: 'one', input: 1 },
    ...{ role: 'arn:aws:iam::000000000000:role/m-role', machine: 'm', state: 'Only' },
    ...{ started: expect.stringMatching(/^\d{4}-.*Z$/), entered: expect.stringMatching(/^\d{4}-.*Z$/) },
  });
});
