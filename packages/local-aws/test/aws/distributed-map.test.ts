import { describe, expect, test } from '@jest/globals';
import type { CallIntegration } from '../../src/aws/step-functions/integrations.ts';
import { TaskError } from '../../src/aws/step-functions/interpreter/errors.ts';
import { caught, endOf, open, run, single, task } from './open-machine.ts';
import { eventually } from './support.ts';

const aMap = (more: object = {}) => ({
  Type: 'Map',
  Label: 'Each',
  ItemsPath: '$.items',
  MaxConcurrency: 2,
  ItemProcessor: {
    ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
    StartAt: 'Work',
    States: { Work: task({ 'got.$': '$.value' }, { End: true }) },
  },
  ...more,
});
/** The executions of the items of a machine's Map. */
const eachOf = (machine: ReturnType<typeof open>) => {
  const each = machine.maps.get('Each');
  if (!each) throw new Error('There is no Map.');
  return { each, statuses: () => each.store.list().map(({ status }) => status) };
};
const hanging = () => new Promise(() => {});

const itemsOf = (count: number) => ({
  items: Array.from({ length: count }, (_, index) => ({ value: index })),
});
const failing =
  (...values: number[]): CallIntegration =>
  async (_principal, parameters) => {
    const { got } = parameters as { got: number };
    if (values.includes(got)) throw new TaskError('Odd', 'it is');
    return parameters;
  };

describe('a distributed Map', () => {
  test('runs an execution for each item, with a history of its own, and puts their outputs in order', async () => {
    const machine = open(single(aMap({ ResultPath: '$.done' })));

    const { output, events, types } = await run(machine, itemsOf(3));

    expect(output).toEqual({ ...itemsOf(3), done: [{ got: 0 }, { got: 1 }, { got: 2 }] });
    expect(types).toEqual([
      ...['ExecutionStarted', 'MapStateEntered', 'MapStateStarted', 'MapRunStarted', 'MapRunSucceeded'],
      ...['MapStateSucceeded', 'MapStateExited', 'ExecutionSucceeded'],
    ]);
    expect(events[3]).toMatchObject({
      mapRunStartedEventDetails: { mapRunArn: expect.stringMatching(/:mapRun:machine-\d+\/Each:[\w-]{36}$/) },
    });
    const { each, statuses } = eachOf(machine);
    expect(statuses()).toEqual(Array(3).fill('SUCCEEDED'));
    const [first] = each.store.list();
    expect(each.store.read(first?.name ?? '')?.events.map(({ type }) => type)).toContain('TaskSucceeded');
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
    ['the percentage that it tolerates', { ToleratedFailurePercentage: 50 }, [0, 1], true],
    ['more than that percentage', { ToleratedFailurePercentage: 49 }, [0, 1], false],
    ['all', { ToleratedFailurePercentage: 100 }, [0, 1, 2, 3], true],
  ])('may have executions that fail: %s', async (_, tolerance, values, isTolerated) => {
    const machine = open(single(aMap(tolerance)), failing(...values));
    const { status, error, output, types } = await run(machine, itemsOf(4));

    if (isTolerated) {
      const others = [0, 1, 2, 3].filter((value) => !values.includes(value));
      expect([status, output]).toEqual(['SUCCEEDED', others.map((got) => ({ got }))]);
      return;
    }
    expect([status, error]).toEqual(['FAILED', 'States.ExceedToleratedFailureThreshold']);
    expect(types).toEqual(expect.arrayContaining(['MapRunFailed', 'MapStateFailed']));
  });

  test('that fails can be caught, and stops the executions that still run', async () => {
    const call: CallIntegration = (_principal, parameters) =>
      (parameters as { got: number }).got === 0 ? Promise.reject(new TaskError('Odd', 'it is')) : hanging();
    const Catch = [{ ErrorEquals: ['States.ExceedToleratedFailureThreshold'], Next: 'Done' }];
    const machine = open(caught(aMap(), Catch), call);

    const { output } = await run(machine, itemsOf(9));

    expect(output).toMatchObject({ Error: 'States.ExceedToleratedFailureThreshold' });
    expect(eachOf(machine).statuses().toSorted()).toEqual(['ABORTED', 'FAILED']);
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

  /** A machine whose two items run. */
  const withRunning = async (name?: string) => {
    const machine = open(single(aMap()), hanging, { ...(name !== undefined && { name }) });
    machine.start('one', JSON.stringify(itemsOf(2)));
    await eventually(
      async () => machine.maps.get('Each')?.openCount(),
      (running) => running === 2,
    );
    return machine;
  };

  test('aborts its executions when its own is stopped', async () => {
    const machine = await withRunning();

    machine.running('one')?.stop('ABORTED');

    expect(eachOf(machine).statuses()).toEqual(['ABORTED', 'ABORTED']);
  });

  test('begins again after a restart, and what an earlier process left of it is aborted', async () => {
    // It stays open until the end, as a process that is killed closes nothing.
    await withRunning('left');
    const after = open(single(aMap()), undefined, { name: 'left' });
    after.resume();

    expect((await endOf(after)).status).toBe('SUCCEEDED');
    expect(eachOf(after).statuses().toSorted()).toEqual(['ABORTED', 'ABORTED', 'SUCCEEDED', 'SUCCEEDED']);
  });

  test.each([
    ['an item reader', { ItemReader: {} }, /ItemReader cannot be run locally/],
    ['a label of other characters', { Label: 'a b' }, /a b is no label/],
    ['a tolerance above 100 %', { ToleratedFailurePercentage: 101 }, /from 0 to 100/],
    [
      'executions of type EXPRESS',
      {
        ItemProcessor: {
          ...aMap().ItemProcessor,
          ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'EXPRESS' },
        },
      },
      /EXPRESS executions cannot be run locally/,
    ],
  ])('cannot be opened with %s', (_, more, message) => {
    expect(() => open(single(aMap(more)))).toThrow(message);
  });
});
