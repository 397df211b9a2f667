import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { UnknownAddressError } from '../../../../core/provider-calls/provider-urls.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { providerAttemptKey, providerWaitKey, requestKey } from '../../../../core/table/keys.ts';
import { queryProvider } from '../../../../core/waiting/query-provider.ts';
import { at, clockAt, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering } from '../../builders/waiting-request.ts';
import { memory } from '../../fakes/fresh-table.ts';

const given = (request: Partial<ImageRequest>) => {
  memory.put(requestKey(REQUEST_ID), anImageRequest({ status: 'processing', ...request }));
  memory.put(providerWaitKey(REQUEST_ID), { requestId: REQUEST_ID });
};
const givenAttempt = (attempt: Partial<ProviderAttempt>) => {
  const whole = anAttempt(attempt);
  memory.put(providerAttemptKey(REQUEST_ID, whole.call, whole.attempt), whole);
};
beforeEach(() => {
  given({});
  givenAttempt(accepted());
});

const run = (provider: Provider, seconds = 40) =>
  queryProvider(REQUEST_ID, leadingTo(provider), clockAt(seconds));
const attempt = (call = 0) => memory.get(providerAttemptKey(REQUEST_ID, call, 0));
const LATE = {
  next: 'fail',
  error: { code: 'provider_timeout', message: 'The upstream provider did not finish in time.' },
};

describe('querying the tasks of a request', () => {
  test('queries the task by its id and goes on to store its outputs', async () => {
    const provider = answering(aDone('a', 'b'));

    expect(await run(provider)).toEqual({ next: 'store' });
    expect(provider.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-1']);
    expect(attempt()).toMatchObject({
      taskId: 'task-1',
      outcome: aDone('a', 'b'),
      finishedAt: at(40),
    });
  });

  test.each<[string, ProviderAnswer]>([
    ['is at work', { kind: 'waiting' }],
    ['does not answer', { kind: 'busy', reason: 'down' }],
  ])('keeps waiting and changes nothing when the provider %s', async (_, answer) => {
    expect(await run(answering(answer), 40)).toEqual({ next: 'wait', timeoutSeconds: 561 });
    expect(attempt()).toMatchObject(accepted());
    expect(attempt()).not.toHaveProperty('finishedAt');
  });

  test('queries nothing at an address that is not configured, and fails the request at its deadline', async () => {
    const nowhere = async () => {
      throw new UnknownAddressError('https://stranger.example is no configured address of modelark.');
    };
    const at = (seconds: number) => queryProvider(REQUEST_ID, nowhere, clockAt(seconds));

    expect(await at(40)).toMatchObject({ next: 'wait' });
    expect(attempt()).toMatchObject(accepted());
    expect(await at(600)).toEqual(LATE);
  });

  test('queries nothing before the provider’s Retry-After, but at the deadline', async () => {
    const throttled: ProviderAnswer = { kind: 'busy', reason: '429', retryAfterSeconds: 86_400 };
    expect(await run(answering(throttled), 40)).toMatchObject({ next: 'wait', timeoutSeconds: 561 });
    expect(await run(answering(aDone('a')), 99)).toMatchObject({ next: 'wait', timeoutSeconds: 502 });

    expect(await run(answering(aDone('a')), 600)).toEqual({ next: 'store' });
  });

  test('marks it processing when the dispatch that accepted it failed to', async () => {
    given({ status: 'queued' });

    expect(await run(answering(aDone('a')))).toEqual({ next: 'store' });
    expect(memory.get(requestKey(REQUEST_ID))?.status).toBe('processing');
  });

  test.each([
    [29.999, { next: 'wait', timeoutSeconds: 572 }],
    [30, { next: 'fail', error: expect.objectContaining({ code: 'provider_error' }) }],
  ])('waits for a call that a failed dispatch left, until it is lost: after %p s', async (seconds, step) => {
    memory.remove(providerAttemptKey(REQUEST_ID, 0, 0));
    givenAttempt({ suspectedAt: at(20) });
    const provider = answering({ kind: 'waiting' });
    provider.callsBack.mockReturnValue(true);

    expect(await run(provider, seconds)).toEqual(step);
    expect(provider.query).not.toHaveBeenCalled();
  });

  test('fails a request that no provider was called for', async () => {
    memory.remove(providerAttemptKey(REQUEST_ID, 0, 0));
    const none = async () => {
      throw new Error('No upstream is configured for xQI3Pro.');
    };

    expect(await queryProvider(REQUEST_ID, none, new StoppedClock())).toMatchObject({
      next: 'fail',
      error: { code: 'internal_error' },
    });
  });

  test.each(['succeeded', 'failed'] as const)('leaves a request that is %s alone', async (status) => {
    given({ status });
    const provider = answering(aDone('a'));

    expect(await run(provider)).toMatchObject({ next: status === 'failed' ? 'fail' : 'stop' });
    expect(provider.query).not.toHaveBeenCalled();
  });

  test('has nothing to do for a request that is gone', async () => {
    memory.reset();

    expect(await run(answering(aDone('a')))).toEqual({ next: 'stop' });
  });
});

describe('the deadline of a request', () => {
  test('fails one whose task is still open', async () => {
    expect(await run(answering({ kind: 'waiting' }), 599.999)).toEqual({
      next: 'wait',
      timeoutSeconds: 2,
    });
    expect(await run(answering({ kind: 'waiting' }), 600)).toEqual(LATE);
    expect(await run(answering({ kind: 'busy', reason: 'down' }), 600)).toEqual(LATE);
  });

  test('counts from the first call, not from the creation', async () => {
    given({ createdAt: at(-86_400) });

    expect(await run(answering({ kind: 'waiting' }), 599)).toMatchObject({ next: 'wait' });
    expect(await run(answering({ kind: 'waiting' }), 600)).toEqual(LATE);
  });
});
