import '../builders/environment.ts';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MemoryExecutions } from '../fakes/memory-executions.ts';
import { describeLocalRun } from './local-run.ts';

jest.useFakeTimers({ advanceTimers: true, doNotFake: ['Date'] });

const executions = new MemoryExecutions();
const { ops, json } = describeLocalRun();
beforeEach(() => {
  executions.reset();
  executions.client.on(StopExecutionCommand).callsFake(async ({ executionArn }) => {
    const name = executionArn.split(':').at(-1);
    for (const one of executions.started) if (one.name === name) one.status = 'ABORTED';
    return {};
  });
  executions.put('generation', 'img_1', 'RUNNING');
  executions.put('expiry', 'img_2', 'RUNNING');
});
const running = () => executions.started.filter(({ status }) => status === 'RUNNING').map(({ name }) => name);

describe('executions stop-all', () => {
  test('stops what every state machine runs, generation first', async () => {
    expect(await json('executions', 'stop-all', '--confirm', 'stop-all')).toEqual([
      { stateMachine: 'generation', stopped: 1, areLeft: false },
      { stateMachine: 'webhook-delivery', stopped: 0, areLeft: false },
      { stateMachine: 'expiry', stopped: 1, areLeft: false },
      { stateMachine: 'verify-ledgers', stopped: 0, areLeft: false },
    ]);
    expect(running()).toEqual([]);
  });

  test('stops those of one state machine', async () => {
    await json('executions', 'stop-all', '--state-machine', 'expiry', '--confirm', 'stop-all');

    expect(running()).toEqual(['img_1']);
  });

  test.each([
    [['--confirm', 'yes'], 'Give --confirm stop-all to do it.'],
    [['--confirm', 'stop-all', '--state-machine', 'other'], 'There is no state machine other.'],
    [[], "required option '--confirm <text>' not specified"],
  ])('stops nothing with %j', async (options, reason) => {
    const { status, stderr } = await ops('executions', 'stop-all', ...options);

    expect(status).toBe(2);
    expect(stderr).toContain(reason);
    expect(running()).toHaveLength(2);
  });
});
