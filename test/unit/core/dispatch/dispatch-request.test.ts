import { describe, expect, test } from '@jest/globals';
import { ProviderCallInFlightError } from '../../../../core/dispatch/make-calls.ts';
import { callbackUrl } from '../../../../core/provider-calls/provider-urls.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { at, atSeconds } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aCall, aDone, aProvider } from '../../builders/providers.ts';
import { ACCEPTED, ASSIGNED, attempts, given, givenAttempt, memory, run, status } from './a-dispatch.ts';

const REFUSED = {
  kind: 'failed',
  failure: { code: 'content_policy', message: 'refused' },
} as const satisfies ProviderAnswer;

describe('dispatching a request', () => {
  test('makes every call of its plan once, as planned, and records the outcomes', async () => {
    given({ images: 3 });
    const provider = aProvider('synchronous', 3, async ({ body }) => aDone(`url-${body.index}`));

    expect(await run(provider)).toEqual({ next: 'store' });

    expect(provider.plan.mock.calls).toEqual([
      [
        anImageRequest({ images: 3, assignment: ASSIGNED }),
        'upstream of xQI3Pro',
        await callbackUrl('modelark', REQUEST_ID),
      ],
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
      return ACCEPTED;
    });

    expect(await run(provider)).toEqual({ next: 'wait', timeoutSeconds: 601 });
    expect(status()).toBe('processing');
    expect(attempts()).toMatchObject([{ taskId: 'task-1', outcome: ACCEPTED }]);
  });

  test.each([
    ['after the shortest pause between two queries', false, 2],
    ['after five minutes when its provider calls back', true, 300],
  ])('lists an accepted one for its first check %s', async (_, callsBack, seconds) => {
    const provider = aProvider('asynchronous', 1, async () => ACCEPTED);
    provider.callsBack.mockReturnValue(callsBack);
    await run(provider);

    const dueKey = dueListing('CHECK', REQUEST_ID, atSeconds(seconds).toISOString());
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject(dueKey);
  });

  test.each<[string, ProviderAnswer[], string]>([
    ['one of several asynchronous calls was accepted', [REFUSED, ACCEPTED], 'wait'],
    ['an asynchronous call returned the outputs at once', [aDone('a')], 'store'],
  ])('marks it processing when %s', async (_, answers, next) => {
    const provider = aProvider('asynchronous', answers.length);
    for (const answer of answers) provider.submit.mockResolvedValueOnce(answer);

    expect(await run(provider)).toMatchObject({ next });
    expect(status()).toBe('processing');
  });

  test('fails it with the failure of its only call', async () => {
    expect(await run(aProvider('asynchronous', 1, async () => REFUSED))).toEqual({
      next: 'fail',
      error: REFUSED.failure,
    });
    expect(status()).toBe('queued');
  });

  test('claims a call before it makes it', async () => {
    const provider = aProvider('synchronous', 1, async () => {
      expect(attempts()).toMatchObject([{ call: 0, attempt: 0, aliveAt: at(0) }]);
      expect(attempts()[0]).not.toHaveProperty('outcome');
      return aDone('a');
    });
    await run(provider);

    expect(provider.submit).toHaveBeenCalledTimes(1);
  });

  test.each(['succeeded', 'failed'] as const)('leaves one that is %s alone', async (ended) => {
    given({ status: ended });
    const provider = aProvider('synchronous', 1);

    expect(await run(provider)).toMatchObject({ next: ended === 'failed' ? 'fail' : 'stop' });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()).toEqual([]);
  });

  test.each<[string, 'fail' | 'stop', () => void]>([
    ['is failed by an operator', 'fail', () => memory.patch(requestKey(REQUEST_ID), { status: 'failed' })],
    ['is deleted', 'stop', () => memory.remove(requestKey(REQUEST_ID))],
  ])('makes no call when it %s after it was loaded, and says %s', async (_, next, end) => {
    given({ images: 4 });
    memory.beforeTransaction = end;
    const provider = aProvider('synchronous', 4);

    expect(await run(provider)).toMatchObject({ next });
    expect(provider.submit).not.toHaveBeenCalled();
    expect(attempts()).toEqual([]);
  });

  test('has nothing to do for one that is gone', async () => {
    memory.reset();

    expect(await run(aProvider('synchronous', 1))).toEqual({ next: 'stop' });
  });
});
