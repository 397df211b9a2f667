import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { beginRun } from '../../../../core/executions/reconciler-run.ts';
import { logger } from '../../../../core/observability.ts';
import { findProviderWait, type ProviderWait } from '../../../../core/provider-calls/provider-waits.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { findRequest } from '../../../../core/requests/requests.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { awaitProvider } from '../../../../core/waiting/await-provider.ts';
import { catchUp, catchUpOnRead } from '../../../../core/waiting/catch-up.ts';
import { at, atSeconds, clockAt } from '../../builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, ENTERED, WaitingRequest, wokenBy } from '../../builders/waiting-request.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

const request = new WaitingRequest(memory);
beforeEach(() => {
  request.given();
});

const PROCESSING = aVideoRequest({ status: 'processing' });
const FAILURE = { code: 'content_policy', message: 'refused' } as const;
const WAITING: ProviderAnswer = { kind: 'waiting' };
const BUSY: ProviderAnswer = { kind: 'busy', reason: 'down' };

/** Lets an execution wait under a token that the table holds. */
const givenToken = (wait: Partial<ProviderWait> = {}): void => {
  executions.wait('token-1');
  request.waiting({ taskToken: 'token-1', waitingSince: at(0), ...wait });
};

describe('catching up with the provider', () => {
  const run = (provider: Provider) => catchUp(PROCESSING, leadingTo(provider), clockAt(60), 1000);
  beforeEach(() => givenToken());

  test.each<[ProviderAnswer, object]>([
    [aDone('a'), { next: 'store' }],
    [
      { kind: 'failed', failure: FAILURE },
      { next: 'fail', error: FAILURE },
    ],
  ])('wakes the execution with the next step after the answer %j', async (answer, next) => {
    expect(await run(answering(answer))).toBe(true);
    expect(executions.woken).toEqual(wokenBy('token-1', next));
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

  test('wakes an execution that waits under another token since', async () => {
    const provider = answering(async () => {
      executions.reset();
      executions.wait('token-2');
      await awaitProvider(
        { requestId: VIDEO_ID, taskToken: 'token-2', ...ENTERED },
        leadingTo(answering(WAITING)),
        clockAt(60),
      );
      return aDone('a');
    });

    await run(provider);

    expect(executions.woken).toEqual(wokenBy('token-2'));
  });
});

describe('the read of an unfinished request', () => {
  const read = async (provider: Provider, seconds: number) => {
    const [found, wait] = [await findRequest(VIDEO_ID), await findProviderWait(VIDEO_ID)];
    if (found) await catchUpOnRead(found, wait, leadingTo(provider), clockAt(seconds));
  };

  test('queries the provider and records the outcome', async () => {
    givenToken();
    const provider = answering(aDone('a'));

    await read(provider, 60);

    expect(provider.query).toHaveBeenCalledTimes(1);
    expect(request.attempt()).toMatchObject({ outcome: aDone('a') });
    expect(executions.woken).toEqual(wokenBy('token-1'));
  });

  test('queries at most once in 10 s, however often it is made', async () => {
    givenToken();
    const provider = answering(WAITING);
    for (let second = 60; second < 120; second++) await read(provider, second);

    expect(provider.query).toHaveBeenCalledTimes(6);
  });

  test.each([
    ['is due soon, and leaves the query to the reconciler at work', 119, 59, 0],
    ['is due soon, while no reconciler is at work', 119, -100, 1],
    ['is due later than the reconciler at work may query it', 121, 59, 1],
    ['is due later, while no reconciler is at work', 121, -100, 1],
  ])('of a request that %s: due at %p s, run of %p s, %p', async (_, dueSeconds, runSeconds, queries) => {
    givenToken();
    memory.patch(requestKey(VIDEO_ID), dueListing('CHECK', VIDEO_ID, at(dueSeconds)));
    await beginRun('a run', 'reconcile', atSeconds(runSeconds));
    const provider = answering(WAITING);

    await read(provider, 60);

    expect(provider.query).toHaveBeenCalledTimes(queries);
  });

  test('made many times at once queries once', async () => {
    givenToken();
    const provider = answering(WAITING);
    const wait = await findProviderWait(VIDEO_ID);
    const read = () => catchUpOnRead(PROCESSING, wait, leadingTo(provider), clockAt(60));

    await Promise.all(Array.from({ length: 10 }, read));

    expect(provider.query).toHaveBeenCalledTimes(1);
  });

  test('makes no table call within 10 s of a query', async () => {
    givenToken({ queriedAt: at(55) });
    const wait = await findProviderWait(VIDEO_ID);
    memory.client.resetHistory();

    await catchUpOnRead(PROCESSING, wait, leadingTo(answering(WAITING)), clockAt(60));

    expect(memory.calls()).toEqual({});
  });

  test.each(['queued', 'succeeded', 'failed'] as const)(
    'does not query for a request that is %s',
    async (status) => {
      request.given({ status });
      const provider = answering(aDone('a'));

      await read(provider, 60);

      expect(provider.query).not.toHaveBeenCalled();
      expect(request.wait()).toBeUndefined();
    },
  );

  test('wakes nothing when no execution waits, and one that waits later finds the outcome', async () => {
    await read(answering(aDone('a')), 60);

    expect(executions.client.calls()).toHaveLength(0);
    executions.wait('token-1');
    const provider = answering(WAITING);
    await awaitProvider(
      { requestId: VIDEO_ID, taskToken: 'token-1', ...ENTERED },
      leadingTo(provider),
      clockAt(61),
    );
    expect(executions.woken).toEqual(wokenBy('token-1'));
    expect(provider.query).not.toHaveBeenCalled();
  });

  test('succeeds when the query fails, and the failure is logged', async () => {
    givenToken();
    const broken = async () => {
      throw new Error('no credential');
    };
    const logged = jest.spyOn(logger, 'error').mockReset();

    await expect(catchUpOnRead(PROCESSING, undefined, broken, clockAt(60))).resolves.toBeUndefined();
    expect(logged.mock.calls).toEqual([
      ['a read could not catch up with the provider', { error: new Error('no credential') }],
    ]);
  });
});
