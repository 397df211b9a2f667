import '../../builders/environment.ts';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aDone, aProvider, leadingTo } from '../../builders/providers.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory } from '../../fakes/fresh-table.ts';

const BUSY = { kind: 'busy', reason: 'full' } as const satisfies ProviderAnswer;
const FAILED = {
  kind: 'failed',
  failure: { code: 'provider_timeout', message: 'late' },
} as const satisfies ProviderAnswer;
let clock = new StoppedClock();
jest.spyOn(Math, 'random').mockReturnValue(0);

beforeEach(() => {
  jest.useFakeTimers();
  secrets.set('arn:callback-secret', 'secret');
  memory.put(requestKey(REQUEST_ID), anImageRequest({ images: 2 }));
  clock = new StoppedClock();
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

const attempts = () =>
  memory
    .partition(`REQUEST#${REQUEST_ID}`)
    .filter(({ SK }) => String(SK).startsWith('ATTEMPT#'))
    .map(({ call, attempt, outcome }) => [call, attempt, (outcome as { kind: string } | undefined)?.kind]);

/** Advances the clock and the timers. */
const pass = async (seconds: number): Promise<void> => {
  await jest.advanceTimersByTimeAsync(0);
  for (let second = 0; second < seconds; second++) {
    clock.advance(1);
    await jest.advanceTimersByTimeAsync(1000);
  }
};

/** Dispatches two calls: the first is answered by the test, the second by these answers in turn. */
const dispatch = async (answers: readonly ProviderAnswer[], timeLeftMs = 630_000) => {
  const hanging = Promise.withResolvers<ProviderAnswer>();
  const madeAt: number[] = [];
  const provider = aProvider('synchronous', 2, async ({ body }) => {
    if (body.index === 0) return hanging.promise;
    madeAt.push((clock.now().getTime() - atSeconds(0).getTime()) / 1000);
    return answers[madeAt.length - 1] ?? aDone('second');
  });
  const run = dispatchRequest(REQUEST_ID, leadingTo(provider), clock, timeLeftMs);
  run.catch(() => undefined);
  await pass(0);
  return { run, madeAt, answer: hanging.resolve };
};

describe('a call that its provider is too busy for while another one hangs', () => {
  test('is made again after 1, 2, 4 s and so on, and delivered when the other one times out', async () => {
    const { run, madeAt, answer } = await dispatch([BUSY, BUSY, BUSY]);

    await pass(20);
    expect(madeAt).toEqual([0, 1, 3, 7]);
    answer(FAILED);

    expect(await run).toEqual({ next: 'store' });
    expect(attempts()).toEqual([
      [0, 0, 'failed'],
      [1, 0, 'busy'],
      [1, 1, 'busy'],
      [1, 2, 'busy'],
      [1, 3, 'done'],
    ]);
  });

  test('is made again after its Retry-After', async () => {
    const { run, madeAt, answer } = await dispatch([{ ...BUSY, retryAfterSeconds: 40 }]);

    await pass(60);
    answer(FAILED);
    await run;

    expect(madeAt).toEqual([0, 40]);
  });

  test('is left to the state machine once the other one is answered', async () => {
    const { run, madeAt, answer } = await dispatch([{ ...BUSY, retryAfterSeconds: 40 }]);

    await pass(10);
    answer(aDone('first'));

    expect(await run).toEqual({ next: 'retry', waitSeconds: 30 });
    expect(madeAt).toEqual([0]);
  });

  test('is not made again once the request has ended', async () => {
    const { run, madeAt, answer } = await dispatch([BUSY, BUSY]);
    await pass(1);
    memory.patch(requestKey(REQUEST_ID), { status: 'failed' });

    await pass(20);
    answer(FAILED);
    await run;

    expect(madeAt).toEqual([0, 1]);
    expect(attempts()).toHaveLength(3);
  });

  test('is not made again after the deadline', async () => {
    const { run, madeAt, answer } = await dispatch([{ ...BUSY, retryAfterSeconds: 700 }]);

    await pass(601);
    answer(FAILED);
    await run;

    expect(madeAt).toEqual([0]);
  });

  test('is not made again when it might outlive the function', async () => {
    const { run, madeAt, answer } = await dispatch([BUSY], 600_000);

    await pass(20);
    answer(FAILED);
    await run;

    expect(madeAt).toEqual([0]);
  });

  test('is not made again by a second run of the step', async () => {
    const { run, madeAt, answer } = await dispatch([{ ...BUSY, retryAfterSeconds: 40 }]);
    await pass(10);

    const second = await dispatch([]);
    await expect(second.run).rejects.toThrow('is being made');
    await pass(40);
    answer(FAILED);
    await run;

    expect(second.madeAt).toEqual([]);
    expect(madeAt).toEqual([0, 40]);
  });
});

describe('a creation call is one line of the log', () => {
  const info = jest.spyOn(logger, 'info');
  const made = () => info.mock.calls.filter(([message]) => message === 'provider call');
  const origin = { requestId: REQUEST_ID, provider: 'modelark', upstreamModel: 'upstream of xQI3Pro' };
  beforeEach(() => {
    info.mockClear();
  });

  test.each<[ProviderAnswer, string | undefined]>([
    [{ ...aDone('a'), providerRequestId: 'call-7' }, undefined],
    [{ kind: 'accepted', taskId: 'task-1', providerRequestId: 'call-7' }, 'task-1'],
    [{ ...FAILED, providerRequestId: 'call-7' }, undefined],
  ])("with how long the provider took, the outcome and the provider's own id: %j", async (answer, taskId) => {
    memory.put(requestKey(REQUEST_ID), anImageRequest({ images: 1 }));
    const provider = aProvider('asynchronous', 1, async () => {
      clock.advance(3);
      return answer;
    });

    await dispatchRequest(REQUEST_ID, leadingTo(provider), clock);

    const { providerRequestId } = answer;
    const call = { ...origin, call: 0, attempt: 0, outcome: answer.kind, milliseconds: 3000, taskId };
    expect(made()).toEqual([['provider call', { ...call, providerRequestId }]]);
    expect(JSON.stringify(memory.partition(`REQUEST#${REQUEST_ID}`))).not.toContain('call-7');
  });

  test('for each attempt of each call', async () => {
    memory.put(requestKey(REQUEST_ID), anImageRequest({ images: 2 }));

    await dispatchRequest(REQUEST_ID, leadingTo(aProvider('synchronous', 2, async () => BUSY)), clock);
    clock.advance(60);
    await dispatchRequest(REQUEST_ID, leadingTo(aProvider('synchronous', 2)), clock);

    const lines = made().map(([, line]) => line as unknown as Record<string, unknown>);
    expect(lines.map(({ call, attempt, outcome }) => [call, attempt, outcome])).toEqual([
      [0, 0, 'busy'],
      [1, 0, 'busy'],
      [0, 1, 'done'],
      [1, 1, 'done'],
    ]);
  });
});
