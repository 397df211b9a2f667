import { expect } from '@jest/globals';
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

/** A time by which every run has ended that ends by itself. */
export const LATER = 10_000_000;

/** Begins a run in virtual time. By default its tasks return their parameters. */
export const begin = (definition: object, input: unknown, host: Partial<Host> = {}) => {
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

/** The output of a run, or the name of its error, once virtual time has passed. */
export const endOf = async (...given: Parameters<typeof begin>) => {
  const { ends, passUntil } = begin(...given);
  await passUntil(LATER);
  expect(ends).toHaveLength(1);
  return ends[0];
};

/** A call that always fails. */
export const failing = async () => {
  throw new TaskError('Busy', 'try later');
};

/** A call that never returns. */
export const hanging = () => new Promise(() => undefined);

/** A catcher of every error that can be caught. */
export const ALL = { ErrorEquals: ['States.ALL'], Next: 'Done' };

/** A task that waits under a token. */
export const underToken = (rest: object = {}) =>
  task(
    { 'token.$': '$$.Task.Token' },
    { Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken', ...rest },
  );

/** A Map whose iterations run one state. */
export const mapOf = (state: object, rest: object = {}) =>
  single({
    Type: 'Map',
    ItemProcessor: { StartAt: 'Work', States: { Work: { ...state, End: true } } },
    ...rest,
  });

/** A task of an iteration, which is called with its item. */
export const work = (rest: object = {}) => task({ 'item.$': '$' }, rest);

/** The item that `work` calls with. */
export const itemOf = (parameters: unknown) => (parameters as { item: number }).item;
