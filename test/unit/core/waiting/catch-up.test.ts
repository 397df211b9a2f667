import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ProviderWait } from '../../../../core/provider-calls/provider-waits.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { awaitProvider } from '../../../../core/waiting/await-provider.ts';
import { catchUp } from '../../../../core/waiting/catch-up.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, ENTERED, WaitingRequest } from '../../builders/waiting-request.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

const request = new WaitingRequest(memory);
beforeEach(() => {
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
  const run = (provider: Provider) =>
    catchUp(aVideoRequest({ status: 'processing' }), leadingTo(provider), clockAt(60), 1000);
  beforeEach(() => givenToken());

  test.each<[ProviderAnswer, object]>([
    [aDone('a'), { next: 'store' }],
    [
      { kind: 'failed', failure: FAILURE },
      { next: 'fail', error: FAILURE },
    ],
  ])('wakes the execution with the next step after the answer %j', async (answer, next) => {
    expect(await run(answering(answer))).toBe(true);
    expect(executions.woken).toEqual(wokenBy('token-1', { result: next }));
  });

  test.each([
    [WAITING, true],
    [BUSY, false],
  ])('wakes nothing after the answer %j, and returns whether it is one: %p', async (answer, answered) => {
    expect(await run(answering(answer))).toBe(answered);
    expect(executions.client.calls()).toHaveLength(0);
  });

  test('wakes the execution once every task has finished, and not before', async () => {
    request.withAttempt({ call: 1, ...accepted('task-2') });
    const provider = answering(WAITING);
    provider.query.mockResolvedValueOnce(aDone('a'));

    await run(provider);
    expect(executions.woken).toEqual([]);

    provider.query.mockResolvedValueOnce({ kind: 'failed', failure: FAILURE });
    await run(provider);
    expect(executions.woken).toEqual(wokenBy('token-1'));
  });

  test('wakes nothing while a call is being made', async () => {
    request.withAttempt({ outcome: undefined, taskId: undefined });

    expect(await run(answering(aDone('a')))).toBe(true);
    expect(executions.client.calls()).toHaveLength(0);
  });

  test('records the outcome when no execution waits any more', async () => {
    executions.reset();

    expect(await run(answering(aDone('a')))).toBe(true);
    expect(request.attempt()).toMatchObject({ outcome: aDone('a') });
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
