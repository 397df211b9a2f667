import { afterAll, describe, expect, test } from '@jest/globals';
import type { CallIntegration } from '../../src/aws/step-functions/integrations.ts';
import { Callbacks } from '../../src/aws/step-functions/interpreter/callbacks.ts';
import { systemClock } from '../../src/aws/step-functions/interpreter/clock.ts';
import { TaskError } from '../../src/aws/step-functions/interpreter/errors.ts';
import { openStateMachine } from '../../src/aws/step-functions/state-machine.ts';
import { single, task } from './open-machine.ts';
import {
  ACCOUNT,
  aDirectory,
  allow,
  aMachine,
  eventually,
  machineArn,
  REGION,
  removeDirectory,
} from './support.ts';

const directory = aDirectory();
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers.splice(0)) close();
  removeDirectory(directory);
});

const aMap = (more: object = {}, states: object = { Work: task({ 'got.$': '$.value' }, { End: true }) }) => ({
  Type: 'Map',
  Label: 'Each',
  ItemsPath: '$.items',
  MaxConcurrency: 2,
  ItemProcessor: {
    ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
    StartAt: 'Work',
    States: states,
  },
  ...more,
});
let machines = 0;
const open = (
  definition: object,
  call: CallIntegration = async (_principal, _resource, parameters) => parameters,
  { name = `map-${++machines}`, isAllowed = true } = {},
) => {
  const spec = aMachine(name, definition);
  const statements = isAllowed ? [allow(['states:StartExecution'], machineArn(name))] : [];
  const machine = openStateMachine(
    { ...spec, principal: { ...spec.principal, statements } },
    {
      ...{
        place: { region: REGION, accountId: ACCOUNT },
        directory,
        callbacks: new Callbacks(systemClock),
        call,
      },
      announce: () => undefined,
    },
  );
  closers.push(machine.close);
  return machine;
};
const run = async (machine: ReturnType<typeof open>, input: unknown) => {
  machine.start('one', JSON.stringify(input));
  const stored = await eventually(
    async () => machine.store.read('one'),
    (execution) => execution?.outcome !== undefined,
  );
  const { output, ...outcome } = stored?.outcome ?? {};
  return {
    ...outcome,
    output: output === undefined ? undefined : JSON.parse(output),
    events: stored?.events ?? [],
  };
};
const itemsOf = (count: number) => ({
  items: Array.from({ length: count }, (_, index) => ({ value: index })),
});
const failing =
  (...values: number[]): CallIntegration =>
  async (_principal, _resource, parameters) => {
    const { got } = parameters as { got: number };
    if (values.includes(got)) throw new TaskError('Odd', 'it is');
    return parameters;
  };

describe('a distributed Map', () => {
  test('runs an execution for each item, with a history of its own, and puts their outputs in order', async () => {
    const machine = open(single(aMap({ ResultPath: '$.done' })));

    const { output, events } = await run(machine, itemsOf(3));

    expect(output).toEqual({ ...itemsOf(3), done: [{ got: 0 }, { got: 1 }, { got: 2 }] });
    expect(events.map(({ type }) => type)).toEqual([
      ...['ExecutionStarted', 'MapStateEntered', 'MapStateStarted', 'MapRunStarted', 'MapRunSucceeded'],
      ...['MapStateSucceeded', 'MapStateExited', 'ExecutionSucceeded'],
    ]);
    expect(events[3]).toMatchObject({
      mapRunStartedEventDetails: { mapRunArn: expect.stringMatching(/:mapRun:map-\d+\/Each:[\w-]{36}$/) },
    });
    const each = machine.maps.get('Each');
    expect(each?.store.list().map(({ status }) => status)).toEqual(Array(3).fill('SUCCEEDED'));
    const [first] = each?.store.list() ?? [];
    expect(each?.store.read(first?.name ?? '')?.events.map(({ type }) => type)).toContain('TaskSucceeded');
  });

  test('runs no more at once than it may', async () => {
    let [atOnce, most] = [0, 0];
    const machine = open(single(aMap()), async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      return null;
    });

    expect((await run(machine, itemsOf(7))).output).toHaveLength(7);
    expect(most).toBe(2);
  });

  test.each([
    ['none, by default', {}, [1], false],
    ['as many as it tolerates', { ToleratedFailureCount: 2 }, [1, 3], true],
    ['more than it tolerates', { ToleratedFailureCount: 1 }, [1, 3], false],
    ['the percentage that it tolerates', { ToleratedFailurePercentage: 50 }, [0, 1], true],
    ['more than that percentage', { ToleratedFailurePercentage: 49 }, [0, 1], false],
    ['all', { ToleratedFailurePercentage: 100 }, [0, 1, 2, 3], true],
  ])('may have executions that fail: %s', async (_, tolerance, values, isTolerated) => {
    const { status, error, output, events } = await run(
      open(single(aMap(tolerance)), failing(...values)),
      itemsOf(4),
    );

    if (isTolerated) {
      const others = [0, 1, 2, 3].filter((value) => !values.includes(value));
      expect([status, output]).toEqual(['SUCCEEDED', others.map((got) => ({ got }))]);
      return;
    }
    expect([status, error]).toEqual(['FAILED', 'States.ExceedToleratedFailureThreshold']);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['MapRunFailed', 'MapStateFailed']),
    );
  });

  test('that fails can be caught, and stops the executions that still run', async () => {
    const call: CallIntegration = (_principal, _resource, parameters) =>
      (parameters as { got: number }).got === 0
        ? Promise.reject(new TaskError('Odd', 'it is'))
        : new Promise(() => {});
    const machine = open(
      {
        StartAt: 'All',
        States: {
          All: {
            ...aMap(),
            Catch: [
              {
                ErrorEquals: ['States.ExceedToleratedFailureThreshold'],
                ResultPath: '$.failure',
                Next: 'Done',
              },
            ],
            Next: 'Done',
          },
          Done: { Type: 'Pass', End: true },
        },
      },
      call,
    );

    const { output } = await run(machine, itemsOf(9));

    expect(output).toMatchObject({ failure: { Error: 'States.ExceedToleratedFailureThreshold' } });
    const statuses = machine.maps
      .get('Each')
      ?.store.list()
      .map(({ status }) => status);
    expect(statuses?.toSorted()).toEqual(['ABORTED', 'FAILED']);
  });

  test('needs the permission to start executions of its own state machine', async () => {
    const machine = open(single(aMap()), undefined, { isAllowed: false });

    expect(await run(machine, itemsOf(1))).toMatchObject({
      status: 'FAILED',
      error: 'StepFunctions.AccessDeniedException',
      cause: expect.stringMatching(/states:StartExecution/),
    });
  });

  test.each([
    ['items that are no list', { items: 'all' }, 'States.Runtime'],
    ['an item that exceeds 256 KB', { items: ['x'.repeat(262_144)] }, 'States.DataLimitExceeded'],
  ])('fails with %s', async (_, input, error) => {
    expect(await run(open(single(aMap())), input)).toMatchObject({ status: 'FAILED', error });
  });

  test('fails when the outputs of all together exceed 256 KB', async () => {
    const machine = open(single(aMap()), async () => 'x'.repeat(100_000));

    expect(await run(machine, itemsOf(3))).toMatchObject({ error: 'States.DataLimitExceeded' });
  });

  test('aborts its executions when its own is stopped', async () => {
    const machine = open(single(aMap()), () => new Promise(() => {}));
    machine.start('one', JSON.stringify(itemsOf(2)));
    const each = machine.maps.get('Each');
    await eventually(
      async () => each?.openCount(),
      (open) => open === 2,
    );

    machine.running('one')?.stop('ABORTED');

    expect(each?.store.list().map(({ status }) => status)).toEqual(['ABORTED', 'ABORTED']);
  });

  test('begins again after a restart, and what an earlier process left of it is aborted', async () => {
    const name = 'left';
    const before = open(single(aMap()), () => new Promise(() => {}), { name });
    before.start('one', JSON.stringify(itemsOf(2)));
    await eventually(
      async () => before.maps.get('Each')?.openCount(),
      (open) => open === 2,
    );
    // It stays open until the end, as a process that is killed closes nothing.
    const after = open(single(aMap()), undefined, { name });
    after.resume();

    const stored = await eventually(
      async () => after.store.read('one'),
      (execution) => execution?.outcome !== undefined,
    );
    expect(stored?.outcome?.status).toBe('SUCCEEDED');
    const statuses = after.maps
      .get('Each')
      ?.store.list()
      .map(({ status }) => status);
    expect(statuses?.toSorted()).toEqual(['ABORTED', 'ABORTED', 'SUCCEEDED', 'SUCCEEDED']);
  });

  test.each([
    ['an item reader', { ItemReader: {} }, /ItemReader/],
    ['an item selector', { ItemSelector: {} }, /ItemSelector/],
    ['batches', { ItemBatcher: {} }, /ItemBatcher/],
    ['a result writer', { ResultWriter: {} }, /ResultWriter/],
    ['a label of other characters', { Label: 'a b' }, /a b is no label/],
    ['a tolerance above 100 %', { ToleratedFailurePercentage: 101 }, /from 0 to 100/],
    [
      'executions of type EXPRESS',
      {
        ItemProcessor: {
          ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'EXPRESS' },
          StartAt: 'Work',
          States: { Work: { Type: 'Succeed' } },
        },
      },
      /EXPRESS executions cannot be run locally/,
    ],
  ])('cannot be opened with %s', (_, more, message) => {
    expect(() => open(single(aMap(more)))).toThrow(message);
  });
});
