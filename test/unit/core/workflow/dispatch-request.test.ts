import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { METRIC } from '../../../../core/observability.ts';
import { keepAttemptAlive, type ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer, ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { dueListing, providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { toInstant } from '../../../../core/time.ts';
import { callbackUrl } from '../../../../core/workflow/callback-urls.ts';
import { dispatchRequest } from '../../../../core/workflow/dispatch-request.ts';
import { ProviderCallInFlightError } from '../../../../core/workflow/make-calls.ts';
import { atSeconds, NOW, StoppedClock, tickingClock } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aCall, aDone, aProvider, leadingTo } from '../../builders/providers.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const memory = new MemoryTable(table);
const secrets = new MemorySecrets();
beforeEach(() => {
  secrets.reset();
  secrets.set('arn:callback-secret', 'secret');
  memory.reset();
  given({});
});

const given = (request: Partial<ImageRequest>) => memory.put(requestKey(REQUEST_ID), anImageRequest(request));
const givenAttempt = (attempt: Partial<ProviderAttempt>) => {
  const whole = anAttempt(attempt);
  memory.put(providerAttemptKey(REQUEST_ID, whole.call, whole.attempt), whole);
};
const status = () => memory.get(requestKey(REQUEST_ID))?.status;
const attempts = () =>
  memory.partition(`REQUEST#${REQUEST_ID}`).filter(({ SK }) => String(SK).startsWith('ATTEMPT#'));
const run = (provider: Provider, clock = new StoppedClock()) =>
  dispatchRequest(REQUEST_ID, leadingTo(provider), clock);

const BUSY = { kind: 'busy', reason: 'full' } as const satisfies ProviderAnswer;
jest.spyOn(Math, 'random').mockReturnValue(0);
/** An attempt whose process has died, and was found to. */
const DEAD = { aliveAt: atSeconds(-60).toISOString(), suspectedAt: atSeconds(-30).toISOString() };
const LOST = {
  kind: 'lost',
  failure: {
    code: 'provider_error',
    message: 'The outcome of the call to the upstream provider is not known.',
  },
};

describe('dispatching a request', () => {
  test('makes every call of its plan once, as planned, and records the outcomes', async () => {
    given({ images: 3 });
    const provider = aProvider('synchronous', 3, async ({ body }) => aDone(`url-${body.index}`));

    expect(await run(provider)).toEqual({ next: 'store' });

    expect(provider.plan.mock.calls).toEqual([
      [anImageRequest({ images: 3 }), 'upstream of xQI3Pro', await callbackUrl('modelark', REQUEST_ID)],
    ]);
    expect(provider.submit.mock.calls.map(([call]) => call)).toEqual([aCall(0), aCall(1), aCall(2)]);
    expect(attempts()).toMatchObject(
      [0, 1, 2].map((call) => ({ call, attempt: 0, outcome: aDone(`url-${call}`) })),
    );
  });

  test('makes the calls of a plan in parallel', async () => {
    let [atOnce, most] = [0, 0];
    const provider = aProvider('synchronous', 5, async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return aDone('a');
    });
    await run(provider);

    expect(most).toBe(5);
  });

  test('marks it processing with the claim of a synchronous call', async () => {
    const provider = aProvider('synchronous', 1, async () => {
      expect(status()).toBe('processing');
      return aDone('a');
    });
    await run(provider);

    expect(provider.submit).toHaveBeenCalledTimes(1);
    expect(memory.calls()).toEqual({ QueryCommand: 1, TransactWriteCommand: 1, UpdateCommand: 1 });
  });

  test('leaves it queued when another run has claimed its synchronous call', async () => {
    let calls = 0;
    // The request and its attempts are read by then.
    memory.beforeCall = () => {
      calls += 1;
      if (calls === 2) givenAttempt({});
    };

    await expect(run(aProvider('synchronous', 1))).rejects.toThrow(ProviderCallInFlightError);
    expect(status()).toBe('queued');
  });

  test('marks it processing once an asynchronous call was accepted, and waits', async () => {
    const provider = aProvider('asynchronous', 1, async () => {
      expect(status()).toBe('queued');
      return { kind: 'accepted', taskId: 'task-1' };
    });

    expect(await run(provider)).toEqual({ next: 'wait', waitSeconds: 5, timeoutSeconds: 601 });
    expect(status()).toBe('processing');
    expect(attempts()).toMatchObject([{ taskId: 'task-1', outcome: { kind: 'accepted', taskId: 'task-1' } }]);
  });

  test('marks it processing when one of several asynchronous calls was accepted', async () => {
    const provider = aProvider('asynchronous', 2, async ({ body }) =>
      body.index === 0
        ? { kind: 'failed', failure: { code: 'provider_error', message: 'broke' } }
        : { kind: 'accepted', taskId: 'task-1' },
    );

    expect(await run(provider)).toMatchObject({ next: 'wait' });
    expect(status()).toBe('processing');
  });

  test('marks it processing when an asynchronous call returned the outputs at once', async () => {
    expect(await run(aProvider('asynchronous', 1))).toEqual({ next: 'store' });
    expect(status()).toBe('processing');
  });

  test('fails it with the failure of its only call', async () => {
    const failure = { code: 'content_policy', message: 'refused' } as const;

    expect(await run(aProvider('asynchronous', 1, async () => ({ kind: 'failed', failure })))).toEqual({
      next: 'fail',
      error: failure,
    });
    expect(status()).toBe('queued');
  });

  test('claims a call before it makes it', async () => {
    const provider = aProvider('synchronous', 1, async () => {
      expect(attempts()).toMatchObject([{ call: 0, attempt: 0, aliveAt: NOW.toISOString() }]);
      expect(attempts()[0]).not.toHaveProperty('outcome');
      return aDone('a');
    });
    await run(provider);

    expect(provider.submit).toHaveBeenCalledTimes(1);
  });

  test.each(['succeeded', 'failed'] as const)('leaves one that is %s alone', async (ended) => {
    given({ status: ended });
    const provider = aProvider('synchronous', 1);

    expect(await run(provider)).toEqual({ next: 'stop' });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()).toEqual([]);
  });

  test.each<[string, () => void]>([
    ['is failed by an operator', () => memory.patch(requestKey(REQUEST_ID), { status: 'failed' })],
    ['is deleted', () => memory.remove(requestKey(REQUEST_ID))],
  ])('makes no call when it %s after it was loaded', async (_, end) => {
    given({ images: 4 });
    memory.beforeTransaction = end;
    const provider = aProvider('synchronous', 4);

    expect(await run(provider)).toEqual({ next: 'stop' });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()).toEqual([]);
  });

  test('has nothing to do for one that is gone', async () => {
    memory.reset();

    expect(await run(aProvider('synchronous', 1))).toEqual({ next: 'stop' });
  });

  test('throws for a model without a provider', async () => {
    const none = async () => {
      throw new Error('No upstream is configured for xQI3Pro.');
    };

    await expect(dispatchRequest(REQUEST_ID, none, new StoppedClock())).rejects.toThrow('No upstream');
  });
});

describe('the deadline of a request', () => {
  /** The provider was busy for the first call at `NOW`, from when the deadline counts. */
  const givenBusy = (call = 0) => givenAttempt({ call, outcome: BUSY, finishedAt: NOW.toISOString() });

  test('allows no call once it has passed, counted from the first call and not from the creation', async () => {
    given({ createdAt: atSeconds(-86_400).toISOString() });
    givenBusy();
    const provider = aProvider('synchronous', 1);

    expect(await run(provider, new StoppedClock(atSeconds(600)))).toEqual({
      next: 'fail',
      error: { code: 'provider_error', message: 'The upstream provider did not take the request.' },
    });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(await run(provider, new StoppedClock(atSeconds(599.999)))).toEqual({ next: 'store' });
  });

  test('counts from the first of several attempts', async () => {
    givenAttempt({ attempt: 0, outcome: BUSY });
    givenAttempt({ attempt: 1, startedAt: atSeconds(500).toISOString(), outcome: BUSY });
    const provider = aProvider('synchronous', 1);

    expect(await run(provider, new StoppedClock(atSeconds(600)))).toMatchObject({ next: 'fail' });
    expect(provider.submit).not.toHaveBeenCalled();
  });

  test('keeps what was produced: what is still busy, or was never made, is not produced', async () => {
    givenBusy(0);
    givenAttempt({ call: 1, outcome: aDone('a') });
    const provider = aProvider('synchronous', 3);

    expect(await run(provider, new StoppedClock(atSeconds(600)))).toEqual({ next: 'store' });
    expect(provider.submit).not.toHaveBeenCalled();
  });

  test('leaves an open task one more query', async () => {
    givenAttempt({ taskId: 'task-1', outcome: { kind: 'accepted', taskId: 'task-1' } });
    const provider = aProvider('asynchronous', 1);

    expect(await run(provider, new StoppedClock(atSeconds(600)))).toEqual({
      next: 'wait',
      waitSeconds: 1,
      timeoutSeconds: 2,
    });
    expect(status()).toBe('processing');
  });

  test('does not hide a call that another run is making', async () => {
    givenAttempt({ aliveAt: atSeconds(595).toISOString() });

    await expect(run(aProvider('synchronous', 1), new StoppedClock(atSeconds(600)))).rejects.toThrow(
      ProviderCallInFlightError,
    );
  });

  test('ends a call in progress', async () => {
    const failure = { code: 'provider_timeout', message: 'late' } as const;
    const provider = aProvider('synchronous', 1, async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'failed', failure };
    });
    givenBusy();

    expect(await run(provider, new StoppedClock(atSeconds(599.99)))).toEqual({
      next: 'fail',
      error: failure,
    });
  });

  test('may pass just before the call, which then ends at once', async () => {
    const failure = { code: 'provider_timeout', message: 'late' } as const;
    const provider = aProvider('synchronous', 1, async (_, signal) => {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'failed', failure };
    });
    givenBusy();
    const clock = tickingClock(600, atSeconds(598.9));

    expect(await dispatchRequest(REQUEST_ID, leadingTo(provider), clock)).toEqual({
      next: 'fail',
      error: failure,
    });
  });
});

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
    givenAttempt({ aliveAt: atSeconds(-19.999).toISOString() });
    const provider = aProvider('synchronous', 1);

    await expect(run(provider)).rejects.toThrow(ProviderCallInFlightError);
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()[0]).not.toHaveProperty('outcome');
  });

  test('of a run not marked alive for 20 s is lost 10 s after that was noticed, and not made again', async () => {
    givenAttempt({ aliveAt: atSeconds(-20).toISOString() });
    const provider = aProvider('synchronous', 1);

    for (const seconds of [0, 9.999]) {
      await expect(run(provider, new StoppedClock(atSeconds(seconds)))).rejects.toThrow(
        ProviderCallInFlightError,
      );
      expect(attempts()).toMatchObject([{ suspectedAt: NOW.toISOString() }]);
    }
    expect(await run(provider, new StoppedClock(atSeconds(10)))).toEqual({
      next: 'fail',
      error: LOST.failure,
    });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()).toMatchObject([
      { attempt: 0, outcome: LOST, finishedAt: atSeconds(10).toISOString() },
    ]);
  });

  test('of a run that marks it alive again, as once the table takes writes again, is not lost', async () => {
    const attempt = { aliveAt: atSeconds(-20).toISOString() };
    givenAttempt(attempt);
    const provider = aProvider('synchronous', 1);
    const look = (seconds: number) => run(provider, new StoppedClock(atSeconds(seconds)));
    await expect(look(0)).rejects.toThrow(ProviderCallInFlightError);

    await keepAttemptAlive(anAttempt(attempt), atSeconds(3));

    await expect(look(10)).rejects.toThrow(ProviderCallInFlightError);
    expect(attempts()[0]).not.toHaveProperty('outcome');
    expect(attempts()[0]).not.toHaveProperty('suspectedAt');
  });

  test('that is marked alive between the decision and its record is not lost', async () => {
    const suspected = {
      aliveAt: atSeconds(-60).toISOString(),
      suspectedAt: atSeconds(-30).toISOString(),
    };
    givenAttempt(suspected);
    let calls = 0;
    // The request and its attempts are read by then.
    memory.beforeCall = () => {
      calls += 1;
      return calls === 2 && keepAttemptAlive(anAttempt(suspected), NOW);
    };

    await expect(run(aProvider('synchronous', 1))).rejects.toThrow(ProviderCallInFlightError);
    expect(attempts()[0]).not.toHaveProperty('outcome');
  });

  test('that was lost does not prevent the other calls of its plan', async () => {
    givenAttempt({ call: 1, ...DEAD });
    const provider = aProvider('synchronous', 3);

    expect(await run(provider)).toEqual({ next: 'store' });
    expect(provider.submit.mock.calls.map(([{ path }]) => path)).toEqual(['/0', '/2']);
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
    async (_, outcomes, at) => {
      const old = { provider: 'modelstudio', upstreamModel: 'old', baseUrl: 'https://old.example' } as const;
      for (const [call, outcome] of outcomes.entries()) {
        givenAttempt({ call, ...old, ...(outcome ? { outcome } : DEAD) });
      }
      const provider = aProvider('synchronous', 2);
      const routes = jest.fn<ProviderRouteOf>(async () => ({ provider, upstreamModel: 'new' }));

      await dispatchRequest(REQUEST_ID, routes, new StoppedClock());

      expect(routes.mock.calls.map(([, origin]) => origin?.baseUrl)).toEqual([at]);
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

  test('of a request that waited for its turn is looked at in 5 min, though its provider stays busy', async () => {
    const endOfQueue = dueListing('LOOK', REQUEST_ID, toInstant(atSeconds(3_600)));
    memory.patch(requestKey(REQUEST_ID), endOfQueue);
    await run(aProvider('asynchronous', 1, async () => BUSY));

    const soon = dueListing('LOOK', REQUEST_ID, toInstant(atSeconds(300)));
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status: 'queued', ...soon });
  });

  test('of a request that is looked at sooner leaves that so', async () => {
    const sooner = dueListing('LOOK', REQUEST_ID, toInstant(atSeconds(120)));
    memory.patch(requestKey(REQUEST_ID), sooner);
    await run(aProvider('asynchronous', 1, async () => BUSY));

    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject(sooner);
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
