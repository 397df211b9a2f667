import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test } from '@jest/globals';

import { openExecutionStore } from '../../src/aws/step-functions/execution-store.ts';
import type { AwsEvent } from '../../src/types.ts';
import { single, task } from './open-machine.ts';
import {
  aDirectory,
  aMachine,
  clientsOf,
  endpointOptions,
  eventually,
  functionArn,
  invoker,
  machineArn,
  NO_TABLES,
  removeDirectory,
  startEndpoint,
} from './support.ts';

const directories: string[] = [];
const newDirectory = () => {
  const directory = aDirectory();
  directories.push(directory);
  return directory;
};
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  for (const directory of directories.splice(0)) removeDirectory(directory);
});

describe('executions over a restart', () => {
  const invoke = (name: string, Payload: object, rest: object) =>
    task({ FunctionName: functionArn(name), Payload }, rest);
  const machine = aMachine('two-steps', {
    StartAt: 'First',
    States: {
      First: invoke('first', { 'id.$': '$.id' }, { ResultPath: null, Next: 'Second' }),
      Second: invoke(
        'second',
        { 'name.$': '$$.Execution.Name', 'started.$': '$$.Execution.StartTime' },
        { OutputPath: '$.Payload', End: true },
      ),
    },
  });

  test('running ones start again with name, input and start date; ended ones stay', async () => {
    const options = endpointOptions({ ...NO_TABLES, dataDir: newDirectory() });
    const seen: unknown[] = [];
    const before = await startEndpoint(options);
    let isStuck = false;
    await before.startStateMachines(
      [machine],
      invoker({
        first: (input) => seen.push(input),
        second: (input) => (isStuck ? new Promise(() => undefined) : input),
      }),
    );
    const start = (name: string) =>
      clientsOf(before).sfn.send(
        new StartExecutionCommand({
          stateMachineArn: machineArn('two-steps'),
          name,
          input: `{"id":"${name}"}`,
        }),
      );
    const done = await start('done');
    const describeWith = (endpoint: typeof before, executionArn: string | undefined) =>
      clientsOf(endpoint).sfn.send(new DescribeExecutionCommand({ executionArn }));
    const doneBefore = await eventually(
      () => describeWith(before, done.executionArn),
      ({ status }) => status === 'SUCCEEDED',
    );
    isStuck = true;
    const stuck = await start('stuck');
    await eventually(
      () => seen.length,
      (count) => count === 2,
    );
    const closing = Date.now();
    await before.close();
    // It waits for no connection that is kept for later: two minutes.
    expect(Date.now() - closing).toBeLessThan(20_000);

    const after = await startEndpoint(options);
    await after.startStateMachines(
      [machine],
      invoker({ first: (input) => seen.push(input), second: (input) => input }),
    );

    const resumed = await eventually(
      () => describeWith(after, stuck.executionArn),
      ({ status }) => status === 'SUCCEEDED',
    );
    expect(resumed).toMatchObject({ name: 'stuck', input: '{"id":"stuck"}', startDate: stuck.startDate });
    expect(JSON.parse(resumed.output ?? '')).toEqual({
      name: 'stuck',
      started: stuck.startDate?.toISOString(),
    });
    expect(seen).toEqual([{ id: 'done' }, { id: 'stuck' }, { id: 'stuck' }]);
    const { events } = await clientsOf(after).sfn.send(
      new GetExecutionHistoryCommand({ executionArn: stuck.executionArn }),
    );
    expect(events?.filter(({ type }) => type === 'ExecutionStarted')).toHaveLength(1);
    expect(events?.at(-1)?.type).toBe('ExecutionSucceeded');
    expect(await describeWith(after, done.executionArn)).toEqual({
      ...doneBefore,
      $metadata: expect.anything(),
    });
    await after.close();
  });
});

describe('an execution whose end was written but not indexed when the process died', () => {
  test('stays ended, and its end is published', async () => {
    const options = endpointOptions({ ...NO_TABLES, dataDir: newDirectory() });
    const machine = aMachine('short', single({ Type: 'Pass' }));
    const before = await startEndpoint(options);
    await before.startStateMachines([machine], invoker({}));
    const { executionArn } = await clientsOf(before).sfn.send(
      new StartExecutionCommand({ stateMachineArn: machineArn('short'), name: 'one', input: '{}' }),
    );
    const describeWith = (endpoint: typeof before) =>
      clientsOf(endpoint).sfn.send(new DescribeExecutionCommand({ executionArn }));
    const ended = await eventually(
      () => describeWith(before),
      ({ status }) => status === 'SUCCEEDED',
    );
    await before.close();
    const index = join(options.dataDir, 'executions', 'short', 'index.jsonl');
    const [begun = ''] = readFileSync(index, 'utf8').split('\n');
    writeFileSync(index, `${begun}\n`);

    const after = await startEndpoint(options);
    closing.push(after.close);
    const told: AwsEvent[] = [];
    await after.startStateMachines([machine], invoker({}), (event) => told.push(event));

    expect(await describeWith(after)).toMatchObject({ status: 'SUCCEEDED', stopDate: ended.stopDate });
    expect(told.map(({ detail }) => [detail.name, detail.status])).toEqual([['one', 'SUCCEEDED']]);
  });
});

describe('open executions', () => {
  test('are limited: a further start is refused until one has ended, a repeated one is not', async () => {
    const options = endpointOptions({ ...NO_TABLES, dataDir: newDirectory(), maxOpenExecutions: 2 });
    const endpoint = await startEndpoint(options);
    closing.push(endpoint.close);
    await endpoint.startStateMachines(
      [aMachine('waits', single({ Type: 'Wait', Seconds: 600 }))],
      invoker({}),
    );
    const { sfn } = clientsOf(endpoint);
    const start = (name: string) =>
      sfn.send(new StartExecutionCommand({ stateMachineArn: machineArn('waits'), name, input: '{}' }));
    const { executionArn } = await start('a');
    await start('b');

    await expect(start('c')).rejects.toMatchObject({ name: 'ExecutionLimitExceeded' });
    await expect(start('a')).resolves.toMatchObject({ executionArn });
    await sfn.send(new StopExecutionCommand({ executionArn }));
    await expect(start('c')).resolves.toMatchObject({ executionArn: expect.any(String) });
  });
});

describe('the execution store', () => {
  test('opens with ten thousand executions', () => {
    const directory = newDirectory();
    const lines = Array.from({ length: 10_000 }, (_, at) => {
      const name = `img_${String(at).padStart(26, '0')}`;
      const start = JSON.stringify({ name, status: 'RUNNING', startDate: 1_790_000_000 + at });
      return `${start}\n${JSON.stringify({ name, status: 'SUCCEEDED', stopDate: 1_790_000_009 + at })}\n`;
    });
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'index.jsonl'), lines.join(''));
    const store = openExecutionStore(directory);

    expect(store.list()).toHaveLength(10_000);
    expect(store.list()[9_999]).toEqual({
      name: `img_${'9999'.padStart(26, '0')}`,
      status: 'SUCCEEDED',
      startDate: 1_790_009_999,
      stopDate: 1_790_010_008,
    });
    store.close();
  });

  test('skips lines cut short by a kill, and writes after them', () => {
    const directory = newDirectory();
    const first = openExecutionStore(directory);
    first.begin('whole', '{"a":1}', 1);
    first.append('whole', { id: 1, previousEventId: 0, timestamp: 1, type: 'ExecutionStarted' });
    first.close();
    appendFileSync(join(directory, 'index.jsonl'), '{"name":"cut","sta');
    appendFileSync(join(directory, 'whole.jsonl'), '{"event":{"id"');

    const second = openExecutionStore(directory);
    second.begin('next', '{}', 2);
    second.close();

    const third = openExecutionStore(directory);
    expect(third.list().map(({ name, status }) => [name, status])).toEqual([
      ['whole', 'RUNNING'],
      ['next', 'RUNNING'],
    ]);
    expect(third.read('whole')?.events).toHaveLength(1);
    third.close();
  });

  test('a start is on disk before the call returns', () => {
    const directory = newDirectory();
    const store = openExecutionStore(directory);

    store.begin('now', '{"a":1}', 5);

    const found = openExecutionStore(directory);
    expect(found.list()).toEqual([{ name: 'now', status: 'RUNNING', startDate: 5 }]);
    expect(found.read('now')).toEqual({ input: '{"a":1}', startDate: 5, events: [] });
    found.close();
    store.close();
  });

  test('the history of one that starts again begins anew', () => {
    const directory = newDirectory();
    const event = { id: 1, previousEventId: 0, timestamp: 1, type: 'ExecutionStarted' };
    const first = openExecutionStore(directory);
    first.begin('again', '{"a":1}', 5);
    first.append('again', event);
    first.close();
    const second = openExecutionStore(directory);
    second.begin('again', '{"a":1}', 5);
    second.append('again', { ...event, timestamp: 2 });

    expect(second.read('again')).toEqual({
      input: '{"a":1}',
      startDate: 5,
      events: [{ ...event, timestamp: 2 }],
    });
    second.close();
  });
});
