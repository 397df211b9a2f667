import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { findProviderWait, type ProviderWait } from '../../../../core/provider-calls/provider-waits.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { table } from '../../../../core/table/table.ts';
import { awaitProvider } from '../../../../core/workflow/await-provider.ts';
import { catchUp } from '../../../../core/workflow/catch-up.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, ENTERED, WaitingRequest } from '../../builders/waiting-request.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
const request = new WaitingRequest(memory);
beforeEach(() => {
  memory.reset();
  executions.reset();
  request.given();
});

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const clockAt = (seconds: number) => new StoppedClock(atSeconds(seconds));
const FAILURE = { code: 'content_policy', message: 'refused' } as const;
const WAITING: ProviderAnswer = { kind: 'waiting' };
const BUSY: ProviderAnswer = { kind: 'busy', reason: 'down' };
const STORE = { result: { next: 'store' } };
const wokenBy = (taskToken: string, output: unknown = STORE) => [{ taskToken, output }];

/** Lets an execution wait under a token that the table holds. */
const givenToken = (taskToken = 'token-1', wait: Partial<ProviderWait> = {}): void => {
  executions.wait(taskToken);
  request.waiting({ taskToken, waitingSince: at(0), ...wait });
};

describe('catching up with the provider', () => {
  const run = async (provider: Provider, wait?: ProviderWait) =>
    catchUp(
      aVideoRequest({ status: 'processing' }),
      wait ?? (await findProviderWait(VIDEO_ID)) ?? { requestId: VIDEO_ID },
      leadingTo(provider),
      clockAt(60),
      1000,
    );
  beforeEach(() => givenToken());

  test.each<[string, ProviderAnswer, object]>([
    ['produced it', aDone('a'), { next: 'store' }],
    ['refused it', { kind: 'failed', failure: FAILURE }, { next: 'fail', error: FAILURE }],
    ['no longer knows it', { kind: 'lost', failure: FAILURE }, { next: 'fail', error: FAILURE }],
  ])('wakes the execution with the next step when the provider %s', async (_, answer, next) => {
    // A task that is not known is believed lost 30 s after the call.
    request.withAttempt({ ...accepted(), startedAt: at(-60) });
    expect(await run(answering(answer))).toEqual({ answered: true, attended: true });
    expect(executions.woken).toEqual(wokenBy('token-1', { result: next }));
    expect(executions.heartbeats).toEqual([]);
  });

  test('sends the execution a heartbeat while the task is unfinished', async () => {
    expect(await run(answering(WAITING))).toEqual({ answered: true, attended: true });
    expect(executions.heartbeats).toEqual(['token-1']);
    expect(executions.woken).toEqual([]);
  });

  test('sends nothing when the provider did not answer', async () => {
    expect(await run(answering(BUSY))).toEqual({ answered: false, attended: false });
    expect(executions.client.calls()).toHaveLength(0);
  });

  test('wakes the execution once every task has finished, and not before', async () => {
    request.withAttempt({ call: 1, ...accepted('task-2') });
    const provider = answering(WAITING);
    provider.query.mockResolvedValueOnce(aDone('a'));

    await run(provider);
    expect(executions.woken).toEqual([]);
    expect(executions.heartbeats).toEqual(['token-1']);

    provider.query.mockResolvedValueOnce({ kind: 'failed', failure: FAILURE });
    await run(provider);
    expect(executions.woken).toEqual(wokenBy('token-1'));
  });

  test('wakes nothing while a call is being made', async () => {
    request.withAttempt({ outcome: undefined, taskId: undefined });

    expect(await run(answering(aDone('a')))).toEqual({ answered: true, attended: false });
    expect(executions.client.calls()).toHaveLength(0);
  });

  test.each<[string, ProviderAnswer]>([
    ['wake', aDone('a')],
    ['keep waiting', WAITING],
  ])('reports that there is no execution left to %s', async (_, answer) => {
    executions.reset();

    expect(await run(answering(answer))).toEqual({ answered: true, attended: false });
  });

  test('wakes an execution that began to wait during the query', async () => {
    const before = { requestId: VIDEO_ID, calledBackAt: at(59) };
    const provider = answering(async () => {
      await awaitProvider(VIDEO_ID, 'token-2', ENTERED, leadingTo(answering(WAITING)), clockAt(60));
      return aDone('a');
    });
    executions.wait('token-2');
    request.waiting({ calledBackAt: at(59), queriedAt: at(59.5) });

    await run(provider, before);

    expect(executions.woken).toEqual(wokenBy('token-2'));
  });

  test('wakes an execution that waits under another token since', async () => {
    const provider = answering(async () => {
      executions.reset();
      executions.wait('token-2');
      await awaitProvider(VIDEO_ID, 'token-2', ENTERED, leadingTo(answering(WAITING)), clockAt(60));
      return aDone('a');
    });

    await run(provider);

    expect(executions.woken).toEqual(wokenBy('token-2'));
  });
});
