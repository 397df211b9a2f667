import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { aDone, aProvider } from '../../builders/providers.ts';
import { ACCEPTED, attempts, BUSY, given, memory, run as runAt, withFakedTimers } from './a-dispatch.ts';

const FAILED = {
  kind: 'failed',
  failure: { code: 'provider_timeout', message: 'late' },
} as const satisfies ProviderAnswer;
const { clock, pass } = withFakedTimers();
beforeEach(() => given({ images: 2 }));

/** Dispatches two calls: the first is answered by the test, the second by these answers in turn. */
const dispatch = async (answers: readonly ProviderAnswer[], timeLeftMs = 630_000) => {
  const hanging = Promise.withResolvers<ProviderAnswer>();
  const madeAt: number[] = [];
  const provider = aProvider('synchronous', 2, async ({ body }) => {
    if (body.index === 0) return hanging.promise;
    madeAt.push((clock().now().getTime() - NOW.getTime()) / 1000);
    return answers[madeAt.length - 1] ?? aDone('second');
  });
  const run = runAt(provider, clock(), timeLeftMs);
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
    const made = attempts().map(({ call, attempt, outcome }) => [
      ...[call, attempt],
      (outcome as ProviderAnswer).kind,
    ]);
    expect(made).toEqual([
      [0, 0, 'failed'],
      [1, 0, 'busy'],
      [1, 1, 'busy'],
      [1, 2, 'busy'],
      [1, 3, 'done'],
    ]);
  });

  test.each<[string, ProviderAnswer[], number, number, number[]]>([
    ['is made again after its Retry-After', [{ ...BUSY, retryAfterSeconds: 40 }], 630_000, 60, [0, 40]],
    [
      'is not made again after the deadline',
      Array.from({ length: 11 }, () => ({ ...BUSY, retryAfterSeconds: 700 })),
      630_000,
      601,
      Array.from({ length: 10 }, (_, minute) => 60 * minute),
    ],
    ['is not made again when it might outlive the function', [BUSY], 600_000, 20, [0]],
    ['is made again when it ends with the function’s time at the latest', [BUSY], 605_000, 20, [0, 1]],
  ])('%s', async (_, answers, timeLeftMs, seconds, expected) => {
    const { run, madeAt, answer } = await dispatch(answers, timeLeftMs);

    await pass(seconds);
    answer(FAILED);
    await run;

    expect(madeAt).toEqual(expected);
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
    [{ ...ACCEPTED, providerRequestId: 'call-7' }, 'task-1'],
    [{ ...FAILED, providerRequestId: 'call-7' }, undefined],
  ])("with how long the provider took, the outcome and the provider's own id: %j", async (answer, taskId) => {
    given({ images: 1 });
    const provider = aProvider('asynchronous', 1, async () => {
      clock().advance(3);
      return answer;
    });

    await runAt(provider, clock());

    const { providerRequestId } = answer;
    const call = { ...origin, call: 0, attempt: 0, outcome: answer.kind, milliseconds: 3000, taskId };
    expect(made()).toEqual([['provider call', { ...call, providerRequestId }]]);
    expect(JSON.stringify(memory.partition(`REQUEST#${REQUEST_ID}`))).not.toContain('call-7');
  });

  test('for each attempt of each call', async () => {
    await runAt(
      aProvider('synchronous', 2, async () => BUSY),
      clock(),
    );
    clock().advance(60);
    await runAt(aProvider('synchronous', 2), clock());

    const lines = made().map(([, line]) => line as unknown as Record<string, unknown>);
    expect(lines.map(({ call, attempt, outcome }) => [call, attempt, outcome])).toEqual([
      [0, 0, 'busy'],
      [1, 0, 'busy'],
      [0, 1, 'done'],
      [1, 1, 'done'],
    ]);
  });
});

test('a call that cannot be recorded ends the run only once the calls beside it are recorded', async () => {
  const { run, answer } = await dispatch([{ kind: 'waiting' }]);
  let isOver = false;
  run.catch(() => {
    isOver = true;
  });

  await pass(20);
  expect(isOver).toBe(false);
  answer(ACCEPTED);

  await expect(run).rejects.toThrow('answered a creation with "waiting"');
  expect(attempts()).toMatchObject([{ call: 0, taskId: 'task-1' }, { call: 1 }]);
});
