import { describe, expect, test } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import { ProviderCallInFlightError } from '../../../../core/dispatch/make-calls.ts';
import { routeLimitKey } from '../../../../core/table/keys.ts';
import { at, atSeconds, clockAt, tickingClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { aDone, aProvider, leadingTo } from '../../builders/providers.ts';
import { MODEL, RouteUnderTest, withLimits } from '../admission/a-route.ts';
import { ACCEPTED, ASSIGNED, BUSY, given, givenAttempt, memory, run, status } from './a-dispatch.ts';
import { FIRST, SECOND, TwoRoutes } from './two-routes.ts';

describe('the deadline of a request', () => {
  /** The provider was busy for the first call at `NOW`, from when the deadline counts. */
  const givenBusy = (call = 0) => givenAttempt({ call, outcome: BUSY, finishedAt: at(0) });

  test('allows no call once it has passed, counted from the first call and not from the creation', async () => {
    given({ createdAt: at(-86_400) });
    givenBusy();
    const provider = aProvider('synchronous', 1);

    expect(await run(provider, clockAt(600))).toEqual({
      next: 'fail',
      error: { code: 'provider_error', message: 'The upstream provider did not take the request.' },
    });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(await run(provider, clockAt(599.999))).toEqual({ next: 'store' });
  });

  test('counts from the first of several attempts', async () => {
    givenAttempt({ attempt: 0, outcome: BUSY });
    givenAttempt({ attempt: 1, startedAt: at(500), outcome: BUSY });
    const provider = aProvider('synchronous', 1);

    expect(await run(provider, clockAt(600))).toMatchObject({ next: 'fail' });
    expect(provider.submit).not.toHaveBeenCalled();
  });

  test('ends the wait for capacity of a request that stores what was produced', () =>
    withLimits({ maxRunning: 1 }, async () => {
      const route = new RouteUnderTest({ maxRunning: 1 }, memory);
      await route.wait(REQUEST_ID);
      given({
        model: MODEL,
        assignment: { ...ASSIGNED, route: route.limit.name },
        ...route.queued(REQUEST_ID),
      });
      givenBusy(0);
      givenAttempt({ call: 1, outcome: aDone('a') });

      expect(await run(aProvider('synchronous', 2), clockAt(600))).toEqual({
        next: 'store',
      });
      expect(route.queue()).toEqual([expect.stringMatching(/^ACCOUNT#/)]);
    }));

  test('takes no permit once it has passed', async () => {
    const two = new TwoRoutes();
    for (const route of [FIRST, SECOND]) two.configure(route, { maxRunning: 1 });
    two.answers[FIRST] = BUSY;
    expect(await two.dispatch()).toMatchObject({ next: 'retry' });
    two.clock.advance(600);

    expect(await two.dispatch()).toMatchObject({ next: 'fail' });
    expect(memory.get(routeLimitKey(`${FIRST}`))).toMatchObject({ used: 0 });
    expect(memory.get(routeLimitKey(`${SECOND}`))).toBeUndefined();
  });

  test('leaves an open task one more query', async () => {
    givenAttempt({ taskId: 'task-1', outcome: ACCEPTED });
    const provider = aProvider('asynchronous', 1);

    expect(await run(provider, clockAt(600))).toEqual({
      next: 'wait',
      timeoutSeconds: 2,
    });
    expect(status()).toBe('processing');
  });

  test('does not hide a call that another run is making', async () => {
    givenAttempt({ aliveAt: at(595) });

    await expect(run(aProvider('synchronous', 1), clockAt(600))).rejects.toThrow(ProviderCallInFlightError);
  });

  test('ends a call in progress', async () => {
    const failure = { code: 'provider_timeout', message: 'late' } as const;
    const provider = aProvider('synchronous', 1, async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'failed', failure };
    });
    givenBusy();

    expect(await run(provider, clockAt(599.99))).toEqual({
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
