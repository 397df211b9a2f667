import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { NotFoundError } from '../../../core/errors.ts';
import { logger } from '../../../core/observability.ts';
import type { WaitingClock } from '../../../core/time.ts';
import { json } from '../../../functions/http/api-handler.ts';
import { withEvents } from '../../../functions/openai/stream-images.ts';
import { StoppedClock } from '../builders/clocks.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const COMMENT = ': the images are being made\n\n';
const stopped = new StoppedClock();
const slept: number[] = [];
const clock: WaitingClock = {
  now: () => stopped.now(),
  sleep: async (milliseconds) => {
    slept.push(milliseconds);
  },
};

type Work = (open: (headers: Record<string, string>) => WaitingClock) => Promise<APIGatewayProxyResult>;

/** The response of work, and its body as text: a stream that is read to its end, or what the response has. */
const streamed = async (work: Work) => {
  const { statusCode, headers, body } = await withEvents('image.completed', clock, work);
  return { statusCode, headers, body: typeof body === 'string' ? body : await text(body as Readable) };
};
const opening =
  (act: (clockOfWait: WaitingClock) => Promise<APIGatewayProxyResult>): Work =>
  (open) =>
    act(open({ Location: '/x' }));
const images = (...data: object[]) => json(200, { created: 7, data });

describe('a call whose response is a stream', () => {
  test('is 200 at once, with headers that keep proxies from holding it back, and its own', async () => {
    const { promise: later, resolve } = Promise.withResolvers<APIGatewayProxyResult>();
    const response = await withEvents(
      'image.completed',
      clock,
      opening(() => later),
    );

    expect(response).toMatchObject({
      statusCode: 200,
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        Location: '/x',
      },
    });
    resolve(images());
    expect(await text(response.body as unknown as Readable)).toBe(COMMENT);
  });

  test('has an event for each image, in their order', async () => {
    const { body } = await streamed(opening(async () => images({ url: 'a' }, { b64_json: 'b' })));

    const event = (data: object) =>
      `event: image.completed\ndata: ${JSON.stringify({ type: 'image.completed', created_at: 7, ...data })}\n\n`;
    expect(body).toBe(COMMENT + event({ url: 'a' }) + event({ b64_json: 'b' }));
  });

  test('has one event for an answer that is an error', async () => {
    const error = { message: 'late', code: 'still_processing' };
    const { statusCode, body } = await streamed(opening(async () => json(408, { error })));

    expect(statusCode).toBe(200);
    expect(body).toBe(`${COMMENT}event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`);
  });

  test.each<[string, Error, string, string]>([
    ['the caller may see', new NotFoundError('It is gone.'), 'It is gone.', 'warn'],
    [
      'is ours, without its cause',
      new Error('table arn:aws is broken'),
      'Something unexpected went wrong on our side.',
      'error',
    ],
  ])('has one event for an error that %s, and logs it', async (_, thrown, message, level) => {
    const logged = (['warn', 'error'] as const).map((name) =>
      jest.spyOn(logger, name).mockImplementation(() => undefined),
    );
    const { statusCode, body } = await streamed(
      opening(async () => {
        throw thrown;
      }),
    );

    expect(statusCode).toBe(200);
    const [, data = ''] = /^: .*\n\nevent: error\ndata: (.*)\n\n$/.exec(body) ?? [];
    expect(JSON.parse(data)).toMatchObject({ type: 'error', error: { message } });
    expect(logged.map(({ mock }) => mock.calls.length)).toEqual(level === 'warn' ? [1, 0] : [0, 1]);
  });

  test('breaks a silence of 10 s by a comment, again and again, and waits as long as it is told', async () => {
    slept.length = 0;
    const { body } = await streamed(
      opening(async (clockOfWait) => {
        for (const seconds of [9.999, 0.001, 9.999, 1, 10]) await clockOfWait.sleep(seconds * 1000);
        expect(clockOfWait.now()).toEqual(stopped.now());
        return images();
      }),
    );

    // The first when it opens, then after 10, 20.999 and 30.999 s.
    expect(body).toBe(COMMENT.repeat(4));
    expect(slept).toEqual([9_999, 1, 9_999, 1_000, 10_000]);
  });
});

describe('a call whose response is no stream', () => {
  test('has the answer as it is', async () => {
    const answer = images({ url: 'a' });

    expect(await withEvents('image.completed', clock, async () => answer)).toBe(answer);
  });

  test('throws what is thrown before a stream opens', async () => {
    const thrown = new NotFoundError('It is gone.');

    await expect(
      withEvents('image.completed', clock, async () => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
  });
});
