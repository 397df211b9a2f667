import { InvokeCommand } from '@aws-sdk/client-lambda';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CALL_LIMITS } from '../../../../core/aws-clients.ts';
import { invokeDiscardClips, invokeMeasureClips } from '../../../../core/creation/invoke-measure-clips.ts';
import { logger } from '../../../../core/observability.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

const functions = new MemoryFunctions();
beforeEach(() => functions.reset());

const URLS = ['https://clips.example.com/a.mp4', 'https://clips.example.com/b.mp4'];
const FACTS = { contentType: 'video/mp4', sizeBytes: 10 };
const MEASURES = [{ ...FACTS, durationMs: 3_000, extension: 'mp4' }, { problem: 'has no duration' }];
const FILES = URLS.map((url) => ({ medium: 'video' as const, url }));
const CLIPS = { requestId: 'vid_1', files: FILES, longestSeconds: 15 };
const measure = () => invokeMeasureClips(CLIPS);
const answer = (measures: unknown) => functions.answer(JSON.stringify({ measures }));

describe('measuring by the function `measure-clips`', () => {
  test('invokes it with the clips, waits for it, and returns its measures', async () => {
    answer(MEASURES);

    expect(await measure()).toEqual(MEASURES);
    const [call, ...more] = functions.client.commandCalls(InvokeCommand);
    expect(more).toEqual([]);
    expect(call?.args[0].input).toEqual({
      FunctionName: 'arn:aws:lambda:us-east-1:111122223333:function:measure-clips',
      Payload: JSON.stringify(CLIPS),
    });
  });

  test('is aborted after all the time it has', async () => {
    const limit = jest.spyOn(AbortSignal, 'timeout');
    answer(MEASURES);
    await measure();

    expect(limit.mock.calls).toEqual([[CALL_LIMITS.measuring.totalMs]]);
    const [, options] = functions.client.send.getCall(0).args as unknown[];
    expect(options).toEqual({ abortSignal: limit.mock.results[0]?.value });
    limit.mockRestore();
  });

  test('is refused as too much while the function is throttled, to be repeated soon', async () => {
    const throttled = Object.assign(new Error('Rate Exceeded.'), {
      name: 'TooManyRequestsException',
      $metadata: { httpStatusCode: 429 },
    });
    functions.refuse(throttled);

    await expect(measure()).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 2,
      cause: throttled,
    });
  });

  test('throws any other error of Lambda as it is', async () => {
    const error = Object.assign(new Error('No answer.'), { name: 'TimeoutError' });
    functions.refuse(error);

    await expect(measure()).rejects.toBe(error);
  });

  test('fails, with its error in the message, when the function fails', async () => {
    functions.answer(JSON.stringify({ errorType: 'Sandbox.Timedout', errorMessage: 'x' }), 'Unhandled');

    await expect(measure()).rejects.toMatchObject({
      name: 'InputsNotMeasuredError',
      message: expect.stringContaining('Sandbox.Timedout'),
    });
  });

  test('fails with no more than the beginning of a long answer', async () => {
    functions.answer('x'.repeat(100_000));
    const error = await measure().catch((cause: Error) => cause);

    expect(error).toMatchObject({ message: expect.stringMatching(/^.{1000,1100}$/) });
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['no JSON', '{'],
    ['null', 'null'],
    ['no measures', '{}'],
    ['too few', JSON.stringify({ measures: MEASURES.slice(1) })],
    ['too many', JSON.stringify({ measures: [...MEASURES, { ...FACTS, durationMs: 1 }] })],
    ['a length below zero', JSON.stringify({ measures: [{ ...FACTS, durationMs: -1 }, MEASURES[1]] })],
    ['a part of a millisecond', JSON.stringify({ measures: [{ ...FACTS, durationMs: 0.5 }, MEASURES[1]] })],
    [
      'a length beyond whole numbers',
      '{"measures":[{"contentType":"video/mp4","sizeBytes":1,"durationMs":1e300},{"problem":"x"}]}',
    ],
    ['a length as text', JSON.stringify({ measures: [{ ...FACTS, durationMs: '3' }, MEASURES[1]] })],
    ['an empty message', JSON.stringify({ measures: [{ problem: '' }, MEASURES[1]] })],
    ['a long message', JSON.stringify({ measures: [{ problem: 'x'.repeat(201) }, MEASURES[1]] })],
    [
      'another type of file',
      JSON.stringify({ measures: [{ ...FACTS, durationMs: 1, extension: 'exe' }, MEASURES[1]] }),
    ],
    ['no type', JSON.stringify({ measures: [{ sizeBytes: 1 }, MEASURES[1]] })],
    ['no size', JSON.stringify({ measures: [{ contentType: 'image/png' }, MEASURES[1]] })],
    ['neither', JSON.stringify({ measures: [{}, MEASURES[1]] })],
  ])('fails when the function returns %s', async (_, payload) => {
    functions.answer(payload);

    await expect(measure()).rejects.toMatchObject({ name: 'InputsNotMeasuredError' });
  });
});

describe('removing copies by the function `measure-clips`', () => {
  const warned = jest.spyOn(logger, 'warn');
  beforeEach(() => void warned.mockReset());
  const discard = () => invokeDiscardClips(CLIPS);

  test('invokes it with the request and how many clips it had', async () => {
    answer([]);
    await discard();

    const [call, ...more] = functions.client.commandCalls(InvokeCommand);
    expect(more).toEqual([]);
    expect(call?.args[0].input.Payload).toBe(JSON.stringify({ requestId: 'vid_1', left: 2 }));
    expect(warned).not.toHaveBeenCalled();
  });

  test('keeps the refused caller waiting for at most 2 s', async () => {
    const limit = jest.spyOn(AbortSignal, 'timeout');
    answer([]);
    await discard();

    expect(limit.mock.calls).toEqual([[2_000]]);
    limit.mockRestore();
  });

  test.each<[string, () => void]>([
    [
      'is throttled',
      () =>
        functions.refuse(Object.assign(new Error('Rate Exceeded.'), { name: 'TooManyRequestsException' })),
    ],
    ['fails', () => functions.answer(JSON.stringify({ errorType: 'Sandbox.Timedout' }), 'Unhandled')],
    [
      'does not answer',
      () => functions.refuse(Object.assign(new Error('No answer.'), { name: 'TimeoutError' })),
    ],
  ])('leaves them to the lifecycle, and says so in the log, when it %s', async (_, given) => {
    given();
    await discard();

    expect(warned.mock.calls).toEqual([
      ['copies of clips could not be removed', expect.objectContaining({ requestId: 'vid_1' })],
    ]);
  });
});
