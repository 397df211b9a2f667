import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../core/provider-calls/providers.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { aVideoRequest, EMAIL, VIDEO_ID } from '../unit/builders/entities.ts';
import type { Execution } from './harness.ts';
import { balanceThousandths, executions, failRequest, putRequest, storedRequest } from './stored-request.ts';
import { stubUpstream } from './stub-upstream.ts';
import {
  ACCEPTED,
  awaits,
  CALLING_BACK,
  callBack,
  FINISHED,
  overAfter,
  readsFrom,
  runVideo,
} from './video.ts';

const expectSucceededAt = (execution: Execution, seconds: number): void => {
  expect(execution.status).toBe('SUCCEEDED');
  expect(storedRequest(VIDEO_ID)).toMatchObject({
    status: 'succeeded',
    costThousandths: 50_000,
    finishedAt: atSeconds(seconds).toISOString(),
  });
};

beforeEach(() => putRequest(aVideoRequest()));

describe('a video that is finished by a callback', () => {
  test.each([60, 600, 3_000])('after %i s takes six transitions and one question', async (seconds) => {
    const upstream = overAfter(seconds, CALLING_BACK);

    const execution = await runVideo(upstream, ({ at }) => at(seconds, () => callBack(upstream)));

    expectSucceededAt(execution, seconds);
    expect(execution.transitions).toBe(6);
    expect(upstream.asked).toEqual([seconds]);
    expect(executions.names('expiry')).toEqual([VIDEO_ID]);
  });

  test('is not hurried by callbacks that say only how far it is', async () => {
    const upstream = overAfter(3_000, CALLING_BACK);

    const execution = await runVideo(upstream, ({ at }) => {
      for (const seconds of [1, 30, 3_000]) at(seconds, () => callBack(upstream));
    });

    expectSucceededAt(execution, 3_000);
    expect(execution.transitions).toBe(6);
  });

  test('is finished once by callbacks that come twice and late', async () => {
    const upstream = overAfter(60, CALLING_BACK);

    const execution = await runVideo(upstream, ({ at }) => {
      for (const seconds of [60, 60, 61]) at(seconds, () => callBack(upstream));
    });

    expectSucceededAt(execution, 60);
    expect(execution.transitions).toBe(6);
    expect(balanceThousandths()).toBe(100_000);
  });

  test('is heard although the provider calls back before anybody waits', async () => {
    const upstream = overAfter(0, CALLING_BACK);

    const execution = await runVideo(upstream, undefined, {
      'await-provider': async (payload) => {
        await callBack(upstream);
        await awaits(upstream)(payload);
      },
    });

    expectSucceededAt(execution, 0);
    expect(execution.transitions).toBe(6);
  });

  test('fails with what the provider says, and is refunded', async () => {
    const failure = { code: 'content_policy', message: 'refused' } as const;
    const upstream = overAfter(60, CALLING_BACK, { kind: 'failed', failure });

    const execution = await runVideo(upstream, ({ at }) => at(60, () => callBack(upstream)));

    expect(execution.path.at(-1)).toBe('Fail request');
    expect(execution.transitions).toBe(5);
    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'failed', error: failure });
    expect(balanceThousandths()).toBe(150_000);
  });

  test('that never comes is failed at the deadline, an hour after its creation, and refunded', async () => {
    const upstream = overAfter(10_000, CALLING_BACK);

    const execution = await runVideo(upstream);

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

    const execution = await runVideo(upstream);

    expectSucceededAt(execution, 3_600);
    expect(execution.transitions).toBe(7);
  });
});

describe('what goes wrong around a waiting video', () => {
  test('ends nothing twice when an operator ended it: the next news finds it over', async () => {
    const upstream = overAfter(600, CALLING_BACK);

    const execution = await runVideo(upstream, ({ at }) => {
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
    const upstream = stubUpstream('asynchronous', { submit: [ACCEPTED], query });

    const execution = await runVideo(upstream, readsFrom(5, upstream));

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

    const { history, invocations } = await runVideo(upstream, ({ at }) => at(60, () => callBack(upstream)));

    const everything = history + JSON.stringify(invocations);
    for (const text of [content.prompt, 'https://', EMAIL]) expect(everything).not.toContain(text);
  });
});
