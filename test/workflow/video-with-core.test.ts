import '../unit/builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { awaitProvider, catchUpOnRead } from '../../core/catch-up.ts';
import { dispatchRequest } from '../../core/dispatch-request.ts';
import { pollProvider } from '../../core/poll-provider.ts';
import { callbackUrl, receiveCallback } from '../../core/provider-callbacks.ts';
import { findProviderWait } from '../../core/provider-waits.ts';
import type { ProviderAnswer } from '../../core/providers.ts';
import { findRequest, recordOutputs } from '../../core/requests.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { aStoredVideo, aVideoRequest, EMAIL, VIDEO_ID } from '../unit/builders/entities.ts';
import { runGeneration, tokenIn } from './generation.ts';
import type { Execution, Script, Surroundings } from './harness.ts';
import {
  balanceThousandths,
  executions,
  failRequest,
  pausedUntil,
  putRequest,
  settleRequest,
  storedRequest,
} from './stored-request.ts';
import { stubUpstream, taskOverAt } from './stub-upstream.ts';

type Upstream = ReturnType<typeof stubUpstream>;

const FINISHED: ProviderAnswer = { kind: 'done', outputs: [{ url: 'https://files.provider.example/v.mp4' }] };
const accepted: ProviderAnswer = { kind: 'accepted', taskId: 'task-1' };

/** A provider of video tasks that is over with one after so many seconds. */
const overAfter = (
  seconds: number,
  { callsBack }: { callsBack: boolean },
  answer: ProviderAnswer = FINISHED,
): Upstream =>
  stubUpstream('asynchronous', { submit: [accepted], query: taskOverAt(seconds, answer) }, () => callsBack);
const CALLING_BACK = { callsBack: true };
const POLLED = { callsBack: false };

/** The real functions of every task but storing, which only records here that the file was stored. */
const realFunctions = (upstreamOf: Upstream): Script => ({
  'dispatch-request': () => dispatchRequest(VIDEO_ID, upstreamOf),
  'await-provider': (payload) => awaitProvider(VIDEO_ID, tokenIn(payload), upstreamOf),
  'poll-provider': () => pollProvider(VIDEO_ID, upstreamOf),
  'store-outputs': () => recordOutputs(VIDEO_ID, [aStoredVideo()]),
  'settle-request': settleRequest,
  'fail-request': failRequest,
});
const run = (upstreamOf: Upstream, around: (surroundings: Surroundings) => void = () => undefined) =>
  runGeneration(
    realFunctions(upstreamOf),
    (surroundings) => {
      executions.waiters = surroundings.tokens;
      around(surroundings);
    },
    { requestId: VIDEO_ID },
  );

/** What a caller's read of the record sets off. */
const read = async (upstreamOf: Upstream): Promise<void> => {
  const [request, wait] = await Promise.all([findRequest(VIDEO_ID), findProviderWait(VIDEO_ID)]);
  if (request) await catchUpOnRead(request, wait, upstreamOf);
};
/** What the provider's call of the URL it was given sets off. */
const callBack = async (upstreamOf: Upstream): Promise<void> => {
  const [provider = '', requestId = '', token = ''] = (await callbackUrl('modelark', VIDEO_ID))
    .split('/')
    .slice(-3);
  await receiveCallback({ provider, requestId, token }, upstreamOf);
};

const succeededAt = (seconds: number) => ({
  status: 'succeeded',
  costThousandths: 50_000,
  finishedAt: atSeconds(seconds).toISOString(),
});
const expectSucceededAt = (execution: Execution, seconds: number): void => {
  expect(execution.status).toBe('SUCCEEDED');
  expect(storedRequest(VIDEO_ID)).toMatchObject(succeededAt(seconds));
};

beforeEach(() => putRequest(aVideoRequest()));

/** Reads every 5 s, as callers are told to, from some second on. */
const readsFrom = (first: number, upstream: Upstream) => (surroundings: Surroundings) => {
  for (let second = first; second < 7_200; second += 5) surroundings.at(second, () => read(upstream));
};
const looks = ({ path }: Execution): number => path.filter((state) => state === 'Poll provider').length;
/** The smallest number of seconds between two questions to the provider. */
const shortestPause = ({ asked }: Upstream): number =>
  Math.min(...asked.slice(1).map((at, index) => at - (asked[index] ?? 0)));

describe('a video that is finished by a callback', () => {
  test.each([60, 600, 3_000])('after %i s takes six transitions and one question', async (seconds) => {
    const upstream = overAfter(seconds, CALLING_BACK);

    const execution = await run(upstream, ({ at }) => at(seconds, () => callBack(upstream)));

    expectSucceededAt(execution, seconds);
    expect(execution.transitions).toBe(6);
    expect(upstream.asked).toEqual([seconds]);
    expect(executions.names('expiry')).toEqual([VIDEO_ID]);
  });

  test('is not hurried by callbacks that say only how far it is', async () => {
    const upstream = overAfter(3_000, CALLING_BACK);

    const execution = await run(upstream, ({ at }) => {
      for (const seconds of [1, 30, 3_000]) at(seconds, () => callBack(upstream));
    });

    expectSucceededAt(execution, 3_000);
    expect(execution.transitions).toBe(6);
  });

  test('is finished once by callbacks that come twice and late', async () => {
    const upstream = overAfter(60, CALLING_BACK);

    const execution = await run(upstream, ({ at }) => {
      for (const seconds of [60, 60, 61]) at(seconds, () => callBack(upstream));
    });

    expectSucceededAt(execution, 60);
    expect(execution.transitions).toBe(6);
    expect(balanceThousandths()).toBe(100_000);
  });

  test('is heard although the provider calls back before anybody waits', async () => {
    const upstream = overAfter(0, CALLING_BACK);

    const execution = await runGeneration(
      {
        ...realFunctions(upstream),
        'await-provider': async (payload) => {
          await callBack(upstream);
          await awaitProvider(VIDEO_ID, tokenIn(payload), upstream);
        },
      },
      ({ tokens }) => {
        executions.waiters = tokens;
      },
      { requestId: VIDEO_ID },
    );

    expectSucceededAt(execution, 0);
    expect(execution.transitions).toBe(6);
  });

  test('fails with what the provider says, and is refunded', async () => {
    const failure = { code: 'content_policy', message: 'refused' } as const;
    const upstream = overAfter(60, CALLING_BACK, { kind: 'failed', failure });

    const execution = await run(upstream, ({ at }) => at(60, () => callBack(upstream)));

    expect(execution.path.at(-1)).toBe('Fail request');
    expect(execution.transitions).toBe(5);
    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'failed', error: failure });
    expect(balanceThousandths()).toBe(150_000);
  });

  test('that never comes is failed at the deadline, an hour after its creation, and refunded', async () => {
    const upstream = overAfter(10_000, CALLING_BACK);

    const execution = await run(upstream);

    expect(execution.seconds).toBe(3_600);
    expect(execution.transitions).toBe(6);
    expect(storedRequest(VIDEO_ID)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_timeout' },
      finishedAt: atSeconds(3_600).toISOString(),
    });
    expect(balanceThousandths()).toBe(150_000);
  });

  test('that is lost is made up for at the deadline: what is there by then is delivered', async () => {
    const upstream = overAfter(3_599, CALLING_BACK);

    const execution = await run(upstream);

    expectSucceededAt(execution, 3_600);
    expect(execution.transitions).toBe(7);
  });
});

describe('a video that is finished by its caller’s reads', () => {
  const kinds = [
    ['whose provider’s callback is lost', CALLING_BACK],
    ['whose provider never calls back', POLLED],
  ] as const;
  const times = [40, 600, 3_300];
  /** When in the rhythm of 5 s the first read comes. */
  const phases = [5, 6, 7.5, 9.9];
  const cases = kinds.flatMap(([name, kind]) =>
    times.flatMap((seconds) => phases.map((first) => [name, seconds, first, kind] as const)),
  );

  test.each(cases)(
    '%s takes at most twelve transitions, over in %i s, read from %p s on',
    async (_, seconds, first, kind) => {
      const upstream = overAfter(seconds, kind);

      const execution = await run(upstream, readsFrom(first, upstream));

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.seconds).toBeGreaterThanOrEqual(seconds);
      // The provider is asked every 10 s, by a caller who reads every 5 s.
      expect(execution.seconds).toBeLessThan(seconds + 15);
      expect(execution.transitions).toBeLessThanOrEqual(12);
      expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'succeeded' });
    },
  );

  test('asks the provider at most every 10 s, and each question is a sign of life', async () => {
    const upstream = overAfter(3_300, POLLED);

    const execution = await run(upstream, readsFrom(5, upstream));

    expect(shortestPause(upstream)).toBeGreaterThanOrEqual(10);
    expect(looks(execution)).toBe(0);
    expect(execution.tokens.issued).toEqual(['token-1']);
    expect(execution.tokens.heartbeats).toEqual(upstream.asked.slice(0, -1));
    expect(upstream.asked.length).toBeGreaterThan(300);
  });

  test('is polled soon after the reads stop, and ever more seldom from then on', async () => {
    const upstream = overAfter(3_300, POLLED);

    const execution = await run(upstream, ({ at }) => {
      for (let second = 5; second <= 600; second += 5) at(second, () => read(upstream));
    });

    // The last question of a read came after 595 s.
    expect(upstream.asked.filter((second) => second > 595)).toEqual([610, ...nextEvery(300, 610, 3_300)]);
    expect(execution.status).toBe('SUCCEEDED');
    expect(looks(execution)).toBeLessThan(20);
  });

  test('is failed at the deadline, however often it is read', async () => {
    const upstream = overAfter(10_000, POLLED);

    const execution = await run(upstream, readsFrom(5, upstream));

    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'failed', error: { code: 'provider_timeout' } });
    expect(execution.seconds).toBeLessThanOrEqual(3_602);
    expect(execution.transitions).toBeLessThanOrEqual(12);
  });
});

describe('a video nobody reads, of a provider that never calls back', () => {
  test('is looked at after as long as it has taken so far, up to 5 min', async () => {
    const upstream = overAfter(3_300, POLLED);

    const execution = await run(upstream);

    expect(upstream.asked).toEqual([15, 30, 60, 120, 240, 480, ...nextEvery(300, 480, 3_300)]);
    expectSucceededAt(execution, upstream.asked.at(-1) ?? 0);
  });

  test.each([
    [15, 1],
    [60, 3],
    [240, 5],
    [480, 6],
    // From here on a look every 5 min.
    [1_080, 8],
    [3_480, 16],
  ])(
    'that takes %i s is looked at %i times: the logarithm of its time, then every 5 min',
    async (seconds, count) => {
      const execution = await run(overAfter(seconds, POLLED));

      expectSucceededAt(execution, seconds);
      expect(looks(execution)).toBe(count);
      expect(execution.transitions).toBe(4 + 3 * count);
    },
  );

  test('is found at most as late as it took, and never more than 5 min late', async () => {
    for (const seconds of [1, 16, 100, 250, 700, 2_000]) {
      putRequest(aVideoRequest());
      const { seconds: found } = await run(overAfter(seconds, POLLED));

      expect(found - seconds).toBeLessThanOrEqual(Math.min(300, Math.max(15, seconds)));
    }
  });

  test('is failed at the deadline and refunded', async () => {
    const execution = await run(overAfter(10_000, POLLED));

    expect(execution.seconds).toBe(3_600);
    expect(storedRequest(VIDEO_ID)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_timeout' },
      finishedAt: atSeconds(3_600).toISOString(),
      refundThousandths: 50_000,
    });
    expect(balanceThousandths()).toBe(150_000);
    expect(pausedUntil(VIDEO_ID)).toBe(atSeconds(3_600 + 180).toISOString());
  });
});

describe('what goes wrong around a waiting video', () => {
  test('ends nothing twice when an operator ended it: the next news finds it over', async () => {
    const upstream = overAfter(600, CALLING_BACK);

    const execution = await run(upstream, ({ at }) => {
      at(300, () => failRequest({ requestId: VIDEO_ID }));
      at(600, () => callBack(upstream));
    });

    expect(storedRequest(VIDEO_ID)).toMatchObject({
      status: 'failed',
      finishedAt: atSeconds(300).toISOString(),
    });
    expect(execution.path.at(-1)).toBe('Nothing left to do');
    expect(balanceThousandths()).toBe(150_000);
  });

  test('keeps it when the provider is out of reach for a while', async () => {
    const out: ProviderAnswer = { kind: 'busy', reason: 'down' };
    const query = (): ProviderAnswer => (Date.now() < atSeconds(400).getTime() ? out : FINISHED);
    const upstream = stubUpstream('asynchronous', { submit: [accepted], query });

    const execution = await run(upstream, readsFrom(5, upstream));

    expect(execution.status).toBe('SUCCEEDED');
    expect(storedRequest(VIDEO_ID).status).toBe('succeeded');
  });

  test('carries nothing of what it was asked for', async () => {
    const content = {
      prompt: 'waves nobody else may read of',
      referenceVideos: ['https://caller.example/clip.mp4'],
      webhookUrl: 'https://caller.example/hook',
    };
    putRequest(aVideoRequest(content));
    const upstream = overAfter(60, CALLING_BACK);

    const { history, invocations } = await run(upstream, ({ at }) => at(60, () => callBack(upstream)));

    const everything = history + JSON.stringify(invocations);
    for (const text of [content.prompt, 'https://', EMAIL]) expect(everything).not.toContain(text);
  });
});

/** The numbers after `last` in steps, up to the first that reaches `end`. */
const nextEvery = (step: number, last: number, end: number): number[] =>
  last >= end ? [] : [last + step, ...nextEvery(step, last + step, end)];
