import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { findProviderWait, type ProviderWait } from '../../../../core/provider-calls/provider-waits.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { findRequest } from '../../../../core/requests/requests.ts';
import { awaitProvider } from '../../../../core/waiting/await-provider.ts';
import { catchUpOnRead } from '../../../../core/waiting/catch-up.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { answering, ENTERED, WaitingRequest } from '../../builders/waiting-request.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

const request = new WaitingRequest(memory);
const logged = jest.spyOn(logger, 'error');
beforeEach(() => {
  logged.mockReset();
  request.given();
});

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const clockAt = (seconds: number) => new StoppedClock(atSeconds(seconds));
const WAITING: ProviderAnswer = { kind: 'waiting' };
const STORE = { result: { next: 'store' } };
const wokenBy = (taskToken: string, output: unknown = STORE) => [{ taskToken, output }];

/** Lets an execution wait under a token that the table holds. */
const givenToken = (taskToken = 'token-1', wait: Partial<ProviderWait> = {}): void => {
  executions.wait(taskToken);
  request.waiting({ taskToken, waitingSince: at(0), ...wait });
};

describe('the read of an unfinished request', () => {
  const read = async (provider: Provider, seconds: number, status = 'processing' as const) => {
    const [found, wait] = [await findRequest(VIDEO_ID), await findProviderWait(VIDEO_ID)];
    await catchUpOnRead(found ?? aVideoRequest({ status }), wait, leadingTo(provider), clockAt(seconds));
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

  test('counts the queries that callbacks cause, too', async () => {
    givenToken('token-1', { queriedAt: at(55) });
    const provider = answering(WAITING);

    await read(provider, 64.999);
    expect(provider.query).not.toHaveBeenCalled();
    await read(provider, 65);
    expect(provider.query).toHaveBeenCalledTimes(1);
  });

  test('made many times at once queries once', async () => {
    givenToken();
    const provider = answering(WAITING);
    const wait = await findProviderWait(VIDEO_ID);
    const found = aVideoRequest({ status: 'processing' });

    await Promise.all(
      Array.from({ length: 10 }, () => catchUpOnRead(found, wait, leadingTo(provider), clockAt(60))),
    );

    expect(provider.query).toHaveBeenCalledTimes(1);
  });

  test('makes no table call within 10 s of a query', async () => {
    givenToken('token-1', { queriedAt: at(55) });
    const wait = await findProviderWait(VIDEO_ID);
    memory.client.resetHistory();

    await catchUpOnRead(
      aVideoRequest({ status: 'processing' }),
      wait,
      leadingTo(answering(WAITING)),
      clockAt(60),
    );

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
    await awaitProvider(VIDEO_ID, 'token-1', ENTERED, leadingTo(provider), clockAt(61));
    expect(executions.woken).toEqual(wokenBy('token-1'));
    expect(provider.query).not.toHaveBeenCalled();
  });

  test('succeeds when the query fails, and the failure is logged', async () => {
    givenToken();
    const broken = async () => {
      throw new Error('no credential');
    };
    const found = aVideoRequest({ status: 'processing' });

    await expect(catchUpOnRead(found, undefined, broken, clockAt(60))).resolves.toBeUndefined();
    expect(logged.mock.calls).toEqual([
      ['a read could not catch up with the provider', { error: new Error('no credential') }],
    ]);
  });
});
