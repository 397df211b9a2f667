import { describe, expect, test } from '@jest/globals';

import { Callbacks } from '../../src/aws/step-functions/interpreter/callbacks.ts';
import type { Clock } from '../../src/aws/step-functions/interpreter/clock.ts';
import { readDefinition } from '../../src/aws/step-functions/interpreter/definition.ts';
import { TaskError } from '../../src/aws/step-functions/interpreter/errors.ts';
import type { RunEvent } from '../../src/aws/step-functions/interpreter/events.ts';
import type { Host } from '../../src/aws/step-functions/interpreter/host.ts';
import { runDefinition } from '../../src/aws/step-functions/interpreter/run.ts';
import { single, task } from './open-machine.ts';

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
  const run = runDefinition(readDefinition('machine', JSON.stringify(definition)), input, {
    clock: time.clock,
    random: () => 0.5,
    context: {},
    callbacks: new Callbacks(time.clock),
    makeToken: () => 'token',
    call: async (_resource, parameters) => parameters,
    observe: (event) => events.push(event),
    ...host,
  });
  run.result.then(
    (output) => ends.push(output),
    (error: Error) => ends.push(error.name),
  );
  return { ...time, run, events, ends };
};

const failing = async () => {
  throw new TaskError('Busy', 'try later');
};
const pausesOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'StateRetried' ? [event.seconds] : []));

describe('retries', () => {
  const retrier = { ErrorEquals: ['Busy'], IntervalSeconds: 2, MaxDelaySeconds: 5, MaxAttempts: 3 };

  test.each([
    [{}, [2, 4, 5]],
    [{ JitterStrategy: 'FULL' }, [1, 2, 2.5]],
    [{ BackoffRate: 1 }, [2, 2, 2]],
    [{ MaxAttempts: 0 }, []],
  ])('take their pauses from the definition, and jitter from the host: %j', async (more, pauses) => {
    const { events, ends, passUntil } = begin(
      single(task({}, { Retry: [{ ...retrier, ...more }] })),
      {},
      { call: failing },
    );

    await passUntil(LATER);

    expect(pausesOf(events)).toEqual(pauses);
    expect(ends).toEqual(['Busy']);
  });

  test('are counted by each iteration of a Map for itself', async () => {
    const tries: unknown[] = [];
    const { ends, passUntil } = begin(
      single({
        Type: 'Map',
        ItemProcessor: {
          StartAt: 'Try',
          States: {
            Try: task(
              { 'item.$': '$', 'retries.$': '$$.State.RetryCount' },
              { Retry: [{ ...retrier, MaxAttempts: 1 }], ResultPath: null, End: true },
            ),
          },
        },
      }),
      ['a', 'b'],
      {
        call: async (_resource, parameters) => {
          tries.push(parameters);
          if (tries.length <= 2) await failing();
        },
      },
    );

    await passUntil(LATER);

    expect(tries).toEqual([0, 1].flatMap((retries) => ['a', 'b'].map((item) => ({ item, retries }))));
    expect(ends).toEqual([['a', 'b']]);
  });
});

describe('a run that is stopped', () => {
  const caught = (state: object) => ({
    StartAt: 'First',
    States: {
      First: { ...state, Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Second' }], Next: 'Second' },
      Second: { Type: 'Succeed' },
    },
  });
  const hanging = () => new Promise(() => undefined);

  test.each([
    ['while a task waits', caught(task({}, { TimeoutSeconds: 60 })), hanging],
    [
      'while a task waits under a token',
      caught(
        task(
          {},
          {
            Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
            TimeoutSeconds: 60,
            HeartbeatSeconds: 20,
          },
        ),
      ),
      hanging,
    ],
    [
      'before a retry',
      caught(task({}, { Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 60 }] })),
      failing,
    ],
    [
      'during a Wait in an iteration',
      caught({
        Type: 'Map',
        ItemProcessor: { StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds: 60, End: true } } },
      }),
      hanging,
    ],
  ])(
    '%s leaves no timer and no token, enters no further state and never ends',
    async (_when, definition, call) => {
      const callbacks = new Callbacks({ now: () => 0, after: () => () => undefined });
      const { run, events, ends, left, passUntil } = begin(definition, [1, 2], { call, callbacks });
      await passUntil(10_000);
      const before = events.length;

      run.stop();
      await passUntil(LATER);

      expect([left(), callbacks.find('token')]).toEqual([0, undefined]);
      expect(events).toHaveLength(before);
      expect(ends).toEqual([]);
    },
  );

  test('ignores the result of a call that was under way', async () => {
    const gate = Promise.withResolvers<unknown>();
    const { run, events, ends, passUntil } = begin(single(task({})), {}, { call: () => gate.promise });
    await passUntil(1_000);

    run.stop();
    gate.resolve('late');
    await passUntil(LATER);

    expect([ends, events.map(({ type }) => type)]).toEqual([[], ['StateEntered', 'TaskScheduled']]);
  });
});

test('an iteration that fails stops the others', async () => {
  const { ends, events, left, passUntil } = begin(
    single({
      Type: 'Map',
      ItemProcessor: { StartAt: 'Work', States: { Work: task({ 'item.$': '$' }, { End: true }) } },
    }),
    [1, 2],
    {
      call: (_resource, parameters) =>
        (parameters as { item: number }).item === 1 ? failing() : new Promise(() => undefined),
    },
  );

  await passUntil(LATER);

  expect([ends, left()]).toEqual([['Busy'], 0]);
  expect(events.filter(({ type }) => type === 'MapIterationFailed')).toHaveLength(1);
});

test('the items of a distributed Map run within the execution where the host starts none of their own', async () => {
  const { ends, passUntil } = begin(
    single({
      Type: 'Map',
      ToleratedFailurePercentage: 100,
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        StartAt: 'Work',
        States: { Work: task({ 'item.$': '$' }, { End: true }) },
      },
    }),
    [1, 2, 3],
    {
      call: async (_resource, parameters) => {
        if ((parameters as { item: number }).item === 2) await failing();
        return parameters;
      },
    },
  );

  await passUntil(LATER);

  expect(ends).toEqual([[{ item: 1 }, { item: 3 }]]);
});

test.each([
  ['a token that no heartbeat keeps', { HeartbeatSeconds: 20, TimeoutSeconds: 60 }, 20_000],
  ['a task over its time', { TimeoutSeconds: 60 }, 60_000],
])('%s times out, at its time', async (_case, limits, at) => {
  const { ends, passUntil } = begin(
    single(task({}, { Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken', ...limits })),
    {},
  );

  await passUntil(at - 1);
  expect(ends).toEqual([]);
  await passUntil(at);

  expect(ends).toHaveLength(1);
});

test('a choice about a variable that is absent fails the execution, and its default is not taken', async () => {
  const { ends, passUntil } = begin(
    {
      StartAt: 'Choose',
      States: {
        Choose: {
          Type: 'Choice',
          Choices: [{ Variable: '$.a', StringEquals: 'x', Next: 'Done' }],
          Default: 'Done',
        },
        Done: { Type: 'Succeed' },
      },
    },
    {},
  );

  await passUntil(LATER);

  expect(ends).toEqual(['States.Runtime']);
});

describe('a result that finds no place', () => {
  test.each([
    ['a text', { a: 'text' }],
    ['a list', { a: [1] }],
    ['null', { a: null }],
  ])('in %s can be caught', async (_in, input) => {
    const { ends, passUntil } = begin(
      {
        StartAt: 'Call',
        States: {
          Call: task(
            {},
            {
              ResultPath: '$.a.b',
              Catch: [
                { ErrorEquals: ['States.ResultPathMatchFailure'], ResultPath: '$.failure', Next: 'Name it' },
              ],
              Next: 'Name it',
            },
          ),
          'Name it': { Type: 'Pass', OutputPath: '$.failure.Error', End: true },
        },
      },
      input,
    );

    await passUntil(LATER);

    expect(ends).toEqual(['States.ResultPathMatchFailure']);
  });
});

describe('a definition is refused', () => {
  test.each([
    ['a path that selects several values', task({ 'a.$': '$.list[*].b' }), 'the path $.list[*].b'],
    ['an intrinsic function that is not run', task({ 'a.$': "States.Hash($.a, 'MD5')" }), 'States.Hash'],
    ['half a call', task({ 'a.$': 'States.Array($.a' }), 'States.Array($.a cannot be run locally'],
    ['a state of another type', { Type: 'Loop' }, 'a state of type Loop'],
    ['a comparison that does not exist', { Type: 'Choice', Choices: [{ Variable: '$', Like: 1 }] }, 'Like'],
  ])('with %s', (_what, state, message) => {
    expect(() => readDefinition('machine', JSON.stringify(single(state)))).toThrow(message);
  });
});
