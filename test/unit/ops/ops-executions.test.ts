import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ledgerPartition, requestKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  putAccount,
  putEndUser,
  putRequest,
} from '../builders/entities.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';
import '../fakes/fresh-bucket.ts';
import { firstAttempts } from '../fakes/fresh-first-attempts.ts';

// The pauses of the command pass at once; it reads the time from here.
let elapsedMs = 0;
jest.unstable_mockModule('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    elapsedMs += ms;
    for (const wake of passing) wake();
  },
}));
const passing: (() => void)[] = [];
const { describeLocalRun } = await import('./local-run.ts');
jest.spyOn(systemClock, 'now').mockImplementation(() => new Date(NOW.getTime() + elapsedMs));
jest.spyOn(Math, 'random').mockReturnValue(0);

const { ops, json } = describeLocalRun();

const id = (number: number) => `img_0000019a${String(number).padStart(24, '0')}`;
/** What the table and Step Functions were asked to change, in order. */
let changes: string[];
beforeEach(() => {
  elapsedMs = 0;
  passing.length = 0;
  changes = [];
  executions.client.on(StopExecutionCommand).callsFake(async ({ executionArn }) => {
    const [machine, name] = executionArn.split(':').slice(-2);
    changes.push(`stop ${machine}`);
    for (const one of executions.started) if (one.name === name) one.status = 'ABORTED';
    return {};
  });
  putAccount(memory);
  putEndUser(memory, anEndUser());
  memory.afterTransaction = () => {
    changes.push('fail');
  };
});
const given = (number: number, more: Parameters<typeof anImageRequest>[0] = {}) =>
  putRequest(memory, anImageRequest({ requestId: id(number), status: 'processing', images: 2, ...more }));
const running = () => executions.started.filter(({ status }) => status === 'RUNNING').map(({ name }) => name);
const statusOf = (number: number) => memory.get(requestKey(id(number)))?.status;
const refunds = () => memory.partition(ledgerPartition(ACCOUNT_ID));

describe('executions stop-all', () => {
  test('fails and refunds the unfinished requests, then stops what still runs', async () => {
    given(1, { status: 'queued' });
    given(2);
    given(3, { status: 'succeeded' });
    executions.put('generation', id(2), 'RUNNING');
    executions.put('expiry', 'some-time', 'RUNNING');

    expect(await json('executions', 'stop-all', '--yes')).toEqual({ stopped: 2 });

    expect([1, 2, 3].map(statusOf)).toEqual(['failed', 'failed', 'succeeded']);
    expect(refunds()).toHaveLength(2);
    expect(refunds()).toEqual(refunds().map(() => expect.objectContaining({ amountThousandths: 8_000 })));
    expect(memory.get(requestKey(id(1)))).toMatchObject({
      error: { code: 'internal_error', message: 'The operator ended this request.' },
    });
    expect(running()).toEqual([]);
    expect(changes.lastIndexOf('fail')).toBeLessThan(changes.indexOf('stop generation'));
  });

  test('goes on when a request cannot be failed, and says so in one line', async () => {
    given(1);
    given(2, { accountId: 'acc_gone' });
    given(3);
    executions.put('generation', id(2), 'RUNNING');

    const { status, stdout, stderr } = await ops('executions', 'stop-all', '--yes', '--json');

    expect({ status, value: JSON.parse(stdout) }).toEqual({ status: 1, value: { stopped: 1 } });
    expect(stderr).toMatch(
      new RegExp(`^1 request could not be failed, ${id(2)} first: .*acc_gone.* Repeat the command\\.\n$`),
    );
    expect([1, 2, 3].map(statusOf)).toEqual(['failed', 'processing', 'failed']);
  });

  test('fails as many requests as there are, a page at a time', async () => {
    memory.itemsPerQuery = 1;
    for (let number = 1; number <= 40; number++) given(number);

    await json('executions', 'stop-all', '--yes');

    expect(refunds()).toHaveLength(40);
  });

  test('lets deliveries of webhooks attempt for half a minute, then stops them', async () => {
    given(1, { webhookUrl: 'https://example.com/hook' });
    executions.put('webhook-delivery', 'an-older-one', 'RUNNING');

    expect(await json('executions', 'stop-all', '--yes')).toEqual({ stopped: 1 });
    expect(firstAttempts()).toEqual([id(1)]);
    expect(elapsedMs).toBeGreaterThanOrEqual(30_000);
    expect(running()).toEqual([]);
  });

  test('waits for deliveries no longer than they run', async () => {
    given(1, { webhookUrl: 'https://example.com/hook' });
    passing.push(() => {
      for (const one of executions.started) one.status = 'SUCCEEDED';
    });

    expect(await json('executions', 'stop-all', '--yes')).toEqual({ stopped: 0 });
    expect(elapsedMs).toBeLessThan(5_000);
  });

  test('stops those of one state machine, and fails requests only with their own', async () => {
    given(1);
    executions.put('generation', id(1), 'RUNNING');
    executions.put('expiry', 'some-time', 'RUNNING');

    expect(await json('executions', 'stop-all', '--state-machine', 'expiry', '--yes')).toEqual({
      stopped: 1,
    });

    expect(running()).toEqual([id(1)]);
    expect(statusOf(1)).toBe('processing');
  });

  test('says without --json what was done', async () => {
    given(1);
    executions.put('generation', id(1), 'RUNNING');

    const { stdout } = await ops('executions', 'stop-all', '--yes');

    expect(stdout).toBe('Failed and refunded: 1 request. Stopped: 1 execution.\n');
  });

  test.each([
    [[], 'This fails and refunds every unfinished request, then stops every execution. Give --yes to do it.'],
    [
      ['--state-machine', 'expiry'],
      'This stops every execution of the state machine expiry. Give --yes to do it.',
    ],
    [['--yes', '--state-machine', 'other'], 'There is no state machine other.'],
  ])('changes nothing with %j', async (options, reason) => {
    given(1);
    executions.put('generation', id(1), 'RUNNING');

    expect(await ops('executions', 'stop-all', ...options)).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining(reason),
    });
    expect(running()).toHaveLength(1);
    expect(statusOf(1)).toBe('processing');
  });
});
