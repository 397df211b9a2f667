import { describe, expect, jest, test } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import { ProviderCallInFlightError } from '../../../../core/dispatch/make-calls.ts';
import { METRIC } from '../../../../core/observability.ts';
import { keepAttemptAlive } from '../../../../core/provider-calls/provider-attempts.ts';
import type { ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { at, atSeconds, clockAt, NOW, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { aDone, aProvider } from '../../builders/providers.ts';
import { metricsCounted } from '../../fakes/metrics.ts';
import { attempts, BUSY, DEAD, givenAttempt, LOST, memory, run, status } from './a-dispatch.ts';

describe('a call', () => {
  test('is never made twice: a second run uses the outcomes of the first', async () => {
    const provider = aProvider('synchronous', 2);
    await run(provider);

    expect(await run(provider)).toEqual({ next: 'store' });
    expect(provider.submit).toHaveBeenCalledTimes(2);
  });

  test('is made by one of several concurrent runs; the others find it in progress', async () => {
    const provider = aProvider('synchronous', 3);

    const settled = await Promise.allSettled([run(provider), run(provider), run(provider)]);

    expect(provider.submit.mock.calls.map(([{ path }]) => path).sort()).toEqual(['/0', '/1', '/2']);
    for (const result of settled) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ProviderCallInFlightError);
    }
  });

  test('that another run is making is waited for, not made', async () => {
    givenAttempt({ aliveAt: at(-19.999) });
    const provider = aProvider('synchronous', 1);

    await expect(run(provider)).rejects.toThrow(ProviderCallInFlightError);
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()[0]).not.toHaveProperty('outcome');
  });

  test('of a run not marked alive for 20 s is lost 10 s after that was noticed, and not made again', async () => {
    givenAttempt({ aliveAt: at(-20) });
    const provider = aProvider('synchronous', 1);

    for (const seconds of [0, 9.999]) {
      await expect(run(provider, clockAt(seconds))).rejects.toThrow(ProviderCallInFlightError);
      expect(attempts()).toMatchObject([{ suspectedAt: at(0) }]);
    }
    expect(await run(provider, clockAt(10))).toEqual({
      next: 'fail',
      error: LOST.failure,
    });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()).toMatchObject([{ attempt: 0, outcome: LOST, finishedAt: at(10) }]);
  });

  test('of a run that marks it alive again, as once the table takes writes again, is not lost', async () => {
    const attempt = { aliveAt: at(-20) };
    givenAttempt(attempt);
    const provider = aProvider('synchronous', 1);
    const check = (seconds: number) => run(provider, clockAt(seconds));
    await expect(check(0)).rejects.toThrow(ProviderCallInFlightError);

    await keepAttemptAlive(anAttempt(attempt), atSeconds(3));

    await expect(check(10)).rejects.toThrow(ProviderCallInFlightError);
    expect(attempts()[0]).not.toHaveProperty('outcome');
    expect(attempts()[0]).not.toHaveProperty('suspectedAt');
  });

  test('that is marked alive between the decision and its record is not lost', async () => {
    givenAttempt(DEAD);
    let calls = 0;
    // The request and its attempts are read by then.
    memory.beforeCall = () => {
      calls += 1;
      return calls === 2 && keepAttemptAlive(anAttempt(DEAD), NOW);
    };

    await expect(run(aProvider('synchronous', 1))).rejects.toThrow(ProviderCallInFlightError);
    expect(attempts()[0]).not.toHaveProperty('outcome');
  });

  test('that was lost does not prevent the other calls of its plan', async () => {
    for (const call of [0, 1, 2]) givenAttempt({ call, ...(call === 1 ? DEAD : { outcome: BUSY }) });
    const provider = aProvider('synchronous', 3);

    expect(await run(provider)).toEqual({ next: 'store' });
    expect(provider.submit.mock.calls.map(([{ path }]) => path)).toEqual(['/0', '/2']);
  });

  test('that another run claimed while the calls were read is waited for, not made', async () => {
    // A query may read a call before the claim, and the next one after its answer.
    givenAttempt({ call: 1, outcome: BUSY });
    let calls = 0;
    memory.beforeCall = () => {
      calls += 1;
      if (calls === 2) givenAttempt({ call: 0, outcome: aDone('a') });
    };
    const provider = aProvider('synchronous', 2);

    await expect(run(provider)).rejects.toThrow(ProviderCallInFlightError);
    expect(provider.submit).not.toHaveBeenCalled();
  });

  test('that the provider was too busy for is made again as the next attempt', async () => {
    const provider = aProvider('synchronous', 1);
    provider.submit.mockResolvedValueOnce(BUSY).mockResolvedValueOnce(BUSY);

    expect(await run(provider)).toEqual({ next: 'retry', waitSeconds: 1 });
    expect(await run(provider)).toEqual({ next: 'retry', waitSeconds: 2 });
    expect(await run(provider)).toEqual({ next: 'store' });

    expect(provider.submit).toHaveBeenCalledTimes(3);
    expect(attempts()).toMatchObject([
      { attempt: 0, outcome: BUSY },
      { attempt: 1, outcome: BUSY },
      { attempt: 2, outcome: aDone('a') },
    ]);
  });

  test('that the provider is too full for, or our quota there, is made again once and then has failed', async () => {
    const provider = aProvider('synchronous', 1);
    const failure = { code: 'provider_error', message: 'Full.' } as const;
    provider.submit.mockResolvedValue({ ...BUSY, ifRepeated: failure });
    const counted = metricsCounted();

    expect(await run(provider)).toEqual({ next: 'retry', waitSeconds: 1 });
    expect(counted()).toEqual([]);
    expect(await run(provider)).toEqual({ next: 'fail', error: failure });

    expect(attempts()).toMatchObject([
      { attempt: 0, outcome: BUSY },
      { attempt: 1, outcome: { kind: 'failed', failure, taken: 'no' } },
    ]);
    expect(counted()).toEqual([[METRIC.providerAccessRefused, { provider: 'modelark' }]]);
  });

  test('that was busy makes the step run again whatever the others returned, and they are not made again', async () => {
    const provider = aProvider('synchronous', 2);
    provider.submit.mockResolvedValueOnce(BUSY);

    expect(await run(provider)).toEqual({ next: 'retry', waitSeconds: 1 });
    expect(await run(provider)).toEqual({ next: 'store' });
    expect(provider.submit.mock.calls.map(([{ path }]) => path)).toEqual(['/0', '/1', '/0']);
  });

  test.each([
    ['was busy alone', [BUSY], undefined],
    ['was done', [aDone('a'), BUSY], 'https://old.example'],
    ['is not known', [undefined, BUSY], 'https://old.example'],
  ] as const)(
    'goes by today’s route unless the old provider may have taken one: it %s',
    async (_, outcomes, address) => {
      const old = { provider: 'modelstudio', upstreamModel: 'old', baseUrl: 'https://old.example' } as const;
      for (const [call, outcome] of outcomes.entries()) {
        givenAttempt({ call, ...old, ...(outcome ? { outcome } : DEAD) });
      }
      const provider = aProvider('synchronous', 2);
      const routes = jest.fn<ProviderRouteOf>(async () => ({ provider, upstreamModel: 'new' }));

      await dispatchRequest(REQUEST_ID, routes, new StoppedClock());

      expect(routes.mock.calls.map(([, origin]) => origin?.baseUrl)).toEqual([address]);
    },
  );

  test('is stored with its provider, upstream model and base URL', async () => {
    await run(aProvider('synchronous', 1));

    expect(attempts()).toMatchObject([
      {
        provider: 'modelark',
        upstreamModel: 'upstream of xQI3Pro',
        baseUrl: 'https://modelark.example/api/v3',
      },
    ]);
  });

  test('that was busy leaves an asynchronous request queued', async () => {
    expect(await run(aProvider('asynchronous', 1, async () => BUSY))).toMatchObject({ next: 'retry' });

    expect(status()).toBe('queued');
  });

  test.each([
    ['waited for its turn is checked in 5 min, though its provider stays busy', 3_600, 300],
    ['is checked sooner leaves that so', 120, 120],
  ])('of a request that %s', async (_, before, after) => {
    memory.patch(requestKey(REQUEST_ID), dueListing('CHECK', REQUEST_ID, at(before)));
    await run(aProvider('asynchronous', 1, async () => BUSY));

    const dueKey = dueListing('CHECK', REQUEST_ID, at(after));
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status: 'queued', ...dueKey });
  });

  test('that was busy is not made again before the provider’s Retry-After', async () => {
    const provider = aProvider('synchronous', 2);
    provider.submit.mockResolvedValueOnce({ ...BUSY, retryAfterSeconds: 40 });
    const clock = new StoppedClock();

    expect(await run(provider, clock)).toEqual({ next: 'retry', waitSeconds: 40 });
    clock.advance(39);
    expect(await run(provider, clock)).toEqual({ next: 'retry', waitSeconds: 1 });
    expect(provider.submit).toHaveBeenCalledTimes(2);
    clock.advance(1);
    expect(await run(provider, clock)).toEqual({ next: 'store' });
  });

  test('that was answered with "waiting" is an adapter bug', async () => {
    await expect(run(aProvider('synchronous', 1, async () => ({ kind: 'waiting' })))).rejects.toThrow(
      'modelark answered a creation with "waiting".',
    );
  });

  test('keeps the outcome that another run recorded first', async () => {
    const provider = aProvider('synchronous', 1, async () => {
      givenAttempt({ outcome: aDone('other') });
      return { kind: 'failed', failure: { code: 'provider_error', message: 'late' } };
    });

    expect(await run(provider)).toEqual({ next: 'store' });
    expect(attempts()).toMatchObject([{ outcome: aDone('other') }]);
  });
});
