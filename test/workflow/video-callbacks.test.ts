import { beforeEach, describe, expect, test } from '@jest/globals';
import { dueListOf } from '../../core/table/keys.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { aVideoRequest, EMAIL, VIDEO_ID } from '../unit/builders/entities.ts';
import type { Execution } from './harness.ts';
import { balanceThousandths, putRequest, storedRequest } from './stored-request.ts';
import { CALLING_BACK, callBack, finishedAfter, runVideo } from './video.ts';

const expectSucceededAt = (execution: Execution, seconds: number): void => {
  expect(execution.status).toBe('SUCCEEDED');
  expect(storedRequest(VIDEO_ID)).toMatchObject({
    status: 'succeeded',
    costThousandths: 50_000,
    finishedAt: atSeconds(seconds).toISOString(),
  });
};

beforeEach(() => putRequest(aVideoRequest()));

describe('a video whose provider calls back', () => {
  test.each([60, 600, 3_000])('after %i s takes six transitions and one query', async (seconds) => {
    const provider = finishedAfter(seconds, CALLING_BACK);

    const execution = await runVideo(provider, ({ at }) => at(seconds, () => callBack(provider)));

    expectSucceededAt(execution, seconds);
    expect(execution.transitions).toBe(6);
    expect(provider.queries).toEqual([seconds]);
    expect(dueListOf(storedRequest(VIDEO_ID).GSI1PK)).toBe('EXPIRE');
  });

  test('is finished once by early, repeated and late callbacks', async () => {
    const provider = finishedAfter(600, CALLING_BACK);

    const execution = await runVideo(provider, ({ at }) => {
      for (const seconds of [1, 30, 600, 600, 601]) at(seconds, () => callBack(provider));
    });

    expectSucceededAt(execution, 600);
    expect(execution.transitions).toBe(6);
    expect(balanceThousandths()).toBe(100_000);
  });

  test('fails with the provider’s failure, and is refunded', async () => {
    const failure = { code: 'content_policy', message: 'refused' } as const;
    const provider = finishedAfter(60, CALLING_BACK, { kind: 'failed', failure });

    const execution = await runVideo(provider, ({ at }) => at(60, () => callBack(provider)));

    expect(execution.failure).toEqual({ Error: failure.code, Cause: failure.message });
    expect(execution.path).toContain('Fail request');
    expect(execution.transitions).toBe(7);
    expect(storedRequest(VIDEO_ID)).toMatchObject({ status: 'failed', error: failure });
    expect(balanceThousandths()).toBe(150_000);
  });
});

describe('a waiting video', () => {
  test('has no content in its execution', async () => {
    const content = {
      prompt: 'waves nobody else may read of',
      referenceVideos: ['https://caller.example/clip.mp4'],
      webhookUrl: 'https://caller.example/hook',
    };
    putRequest(aVideoRequest(content));
    const provider = finishedAfter(60, CALLING_BACK);

    const { history, invocations } = await runVideo(provider, ({ at }) => at(60, () => callBack(provider)));

    const everything = history + JSON.stringify(invocations);
    for (const text of [content.prompt, 'https://', EMAIL]) expect(everything).not.toContain(text);
  });
});
