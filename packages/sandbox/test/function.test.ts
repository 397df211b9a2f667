import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { createHandler, type FunctionUrlEvent, type FunctionUrlResult } from '../src/function/handler.ts';
import { fromToken, toToken } from '../src/function/token.ts';
import { PLAIN_MEDIA } from '../src/media/plain-media.ts';
import { measure } from './videos.ts';

const HOST = 'abc.lambda-url.eu-west-1.on.aws';
const START = Date.parse('2026-11-22T08:00:00Z');
const KEY = { authorization: 'Bearer test-key' };
const ARK_IMAGES = '/api/v3/images/generations';
const ARK_TASKS = '/api/v3/contents/generations/tasks';
const STUDIO_VIDEOS = '/api/v1/services/aigc/video-generation/video-synthesis';

const clock = { time: START };
/** A function as a new instance starts it: it knows nothing of earlier calls. */
const newInstance = () => createHandler({ apiKey: 'test-key', media: PLAIN_MEDIA, now: () => clock.time });

const event = (method: string, path: string, fields: Partial<FunctionUrlEvent> = {}): FunctionUrlEvent => ({
  ...{ rawPath: path, headers: KEY, isBase64Encoded: false },
  requestContext: { domainName: HOST, http: { method } },
  ...fields,
});
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  newInstance()(event('POST', path, { body: JSON.stringify(body), headers: { ...KEY, ...headers } }));
const get = (path: string, method = 'GET') => newInstance()(event(method, path));
const json = ({ body }: FunctionUrlResult) => JSON.parse(body);
const fetchFile = (url: string) => {
  const { host, pathname } = new URL(url);
  expect(host).toBe(HOST);
  return newInstance()(event('GET', pathname, { headers: {} }));
};
const bytesOf = ({ body, isBase64Encoded }: FunctionUrlResult) => {
  expect(isBase64Encoded).toBe(true);
  return Buffer.from(body, 'base64');
};

const anImage = (fields: object = {}) => ({
  ...{ model: 'dola-seedream-5-0-pro-260628', size: '1280x720', prompt: 'a red fox', watermark: false },
  ...fields,
});
const anArkVideo = (fields: object = {}, prompt = 'a red fox') => ({
  ...{ model: 'sandbox-xw3-pro', content: [{ type: 'text', text: prompt }] },
  ...{ resolution: '1080p', ratio: '16:9', duration: 2 },
  ...fields,
});
const aStudioVideo = (prompt = 'a red fox') => ({
  ...{ model: 'wan3.0-video', input: { prompt } },
  parameters: { resolution: '480P', ratio: '16:9', duration: 2 },
});

describe('the sandbox as a function keeps nothing between calls', () => {
  test('an image is made when another instance is asked for its file, of its size and type', async () => {
    const made = await post(ARK_IMAGES, anImage());

    expect(made.statusCode).toBe(200);
    const { url } = json(made).data[0];
    clock.time = START + 60_000;
    const file = await fetchFile(url);
    const { width, height, format } = await sharp(bytesOf(file)).metadata();
    expect([width, height, `image/${format}`]).toEqual([1280, 720, file.headers['Content-Type']]);
    expect(bytesOf(await fetchFile(url)).equals(bytesOf(file))).toBe(true);
  });

  test('a request to fal is followed and made by other instances', async () => {
    const key = { authorization: 'Key test-key' };
    const ask = async (path: string) => json(await newInstance()(event('GET', path, { headers: key })));
    const made = await post(
      '/fal/alibaba/qwen-image-3/text-to-image',
      { prompt: 'a red fox', image_size: { width: 640, height: 512 } },
      key,
    );
    const path = `/fal/alibaba/qwen-image-3/requests/${json(made).request_id}`;

    expect((await ask(`${path}/status`)).status).toBe('IN_QUEUE');
    clock.time += 60_000;
    expect((await ask(`${path}/status`)).status).toBe('COMPLETED');
    const { url } = (await ask(path)).images[0];
    const { width, height } = await sharp(bytesOf(await fetchFile(url))).metadata();
    expect([width, height]).toEqual([640, 512]);
  });

  test.each(['[flaky=0]', '[delay=0.01]', '[delay=0.01] [delay=0.02]', '[hang=0.01]', '[busy=3]'])(
    'an image is made whose prompt is %s and nothing else',
    async (prompt) => {
      const made = await post(ARK_IMAGES, anImage({ prompt }));

      expect((await fetchFile(json(made).data[0].url)).statusCode).toBe(200);
    },
  );

  test.each(['[flaky=1]', '[busy-for=2]'])(
    'an image is made once %s is over, in any instance',
    async (prompt) => {
      clock.time = START;
      const instance = newInstance();
      const create = () => instance(event('POST', ARK_IMAGES, { body: JSON.stringify(anImage({ prompt })) }));
      expect((await create()).statusCode).not.toBe(200);
      clock.time = START + 3_000;

      const made = await create();
      expect(made.statusCode).toBe(200);
      expect((await fetchFile(json(made).data[0].url)).statusCode).toBe(200);
    },
  );

  test('a video is made whose prompt is [flaky=0] and nothing else', async () => {
    clock.time = START;
    const made = json(
      await post(STUDIO_VIDEOS, aStudioVideo('[flaky=0]'), { 'x-dashscope-async': 'enable' }),
    );
    clock.time = START + 600_000;
    const { output } = json(await get(`/api/v1/tasks/${made.output.task_id}`));

    expect(output.task_status).toBe('SUCCEEDED');
    expect((await fetchFile(output.video_url)).statusCode).toBe(200);
  });

  test('a ModelArk task is found by any instance, and finishes in its time', async () => {
    clock.time = START;
    const { id } = json(await post(ARK_TASKS, anArkVideo({}, 'a fox [delay=10]')));
    const statusAfter = async (seconds: number) => {
      clock.time = START + seconds * 1000;
      return json(await get(`${ARK_TASKS}/${id}`));
    };

    expect((await statusAfter(0)).status).toBe('queued');
    expect((await statusAfter(5)).status).toBe('running');
    const { status, content } = await statusAfter(11);
    expect(status).toBe('succeeded');
    expect(await measure(bytesOf(await fetchFile(content.video_url)))).toMatchObject({
      ...{ codec: 'avc', width: 1920, height: 1080, seconds: 2 },
    });
  });

  test('a Model Studio task is found by any instance too', async () => {
    clock.time = START;
    const created = await post(STUDIO_VIDEOS, aStudioVideo(), { 'x-dashscope-async': 'enable' });
    const { task_id } = json(created).output;
    clock.time = START + 2000;

    const { output } = json(await get(`/api/v1/tasks/${task_id}`));

    expect(output).toMatchObject({ task_id, task_status: 'SUCCEEDED' });
    expect(await measure(bytesOf(await fetchFile(output.video_url)))).toMatchObject({ seconds: 2 });
  });

  test('tasks and files are gone after their time', async () => {
    clock.time = START;
    const { id } = json(await post(ARK_TASKS, anArkVideo()));
    const { url } = json(await post(ARK_IMAGES, anImage())).data[0];

    clock.time = START + 8 * 86_400_000;
    expect((await get(`${ARK_TASKS}/${id}`)).statusCode).toBe(404);
    expect((await fetchFile(url)).statusCode).toBe(404);
  });

  test('a callback URL is in no id and no file URL', async () => {
    clock.time = START;
    const callback_url = 'https://example.com/callbacks/secret';
    const { id } = json(await post(ARK_TASKS, anArkVideo({ callback_url })));

    expect(JSON.stringify(fromToken(id))).not.toContain('secret');
  });
});

describe('the sandbox as a function answers as its server does', () => {
  test('to a wrong key, a malformed body and an unknown route', async () => {
    const handler = newInstance();
    const refused = await Promise.all([
      handler(event('POST', ARK_IMAGES, { headers: { authorization: 'Bearer x' }, body: '{}' })),
      handler(event('POST', ARK_IMAGES, { body: '[' })),
      handler(event('GET', '/api/v3/nothing')),
    ]);

    expect(refused.map(({ statusCode }) => statusCode)).toEqual([401, 400, 404]);
    for (const answer of refused) expect(json(answer).error).toBeDefined();
  });

  test('to a body in base64, as Lambda gives some', async () => {
    const body = Buffer.from(JSON.stringify(anImage())).toString('base64');

    const answer = await newInstance()(event('POST', ARK_IMAGES, { body, isBase64Encoded: true }));

    expect(answer.statusCode).toBe(200);
  });

  test('to [busy=0], which an instance counts, and of which the file of the next call knows nothing', async () => {
    clock.time = START;
    const handler = newInstance();
    const call = () =>
      handler(event('POST', ARK_IMAGES, { body: JSON.stringify(anImage({ prompt: 'a fox [busy=0]' })) }));

    expect((await call()).statusCode).toBe(429);
    const { url } = json(await call()).data[0];
    expect((await fetchFile(url)).statusCode).toBe(200);
  });

  test('to more tasks of a model at once than an instance may take, until one has ended', async () => {
    clock.time = START;
    const handler = createHandler({
      ...{ apiKey: 'test-key', media: PLAIN_MEDIA, maxRunning: 1, now: () => clock.time },
    });
    const create = async () => {
      const body = JSON.stringify(anArkVideo({}, 'a fox [delay=10]'));
      return (await handler(event('POST', ARK_TASKS, { body }))).statusCode;
    };

    expect([await create(), await create()]).toEqual([200, 429]);
    clock.time += 10_000;
    expect(await create()).toBe(200);
  });

  test('to a cancellation with a refusal, since it keeps no task that could be cancelled', async () => {
    clock.time = START;
    const { id } = json(
      await post('/api/v3/contents/generations/tasks', anArkVideo({}, 'a fox [queued=60]')),
    );

    const refused = await get(`/api/v3/contents/generations/tasks/${id}`, 'DELETE');

    expect(refused.statusCode).toBe(404);
    expect(json(await get(`/api/v3/contents/generations/tasks/${id}`)).status).toBe('queued');
  });

  test('to a broken output with 410', async () => {
    clock.time = START;
    const { url } = json(await post(ARK_IMAGES, anImage({ prompt: 'a fox [broken=all]' }))).data[0];

    expect((await fetchFile(url)).statusCode).toBe(410);
  });

  test('to webhooks, without a key', async () => {
    const statuses = ['POST', 'GET'].map(
      async (method) => (await newInstance()(event(method, '/sandbox/webhooks', { headers: {} }))).statusCode,
    );

    expect(await Promise.all(statuses)).toEqual([204, 405]);
  });

  test.each(['x', 'x/0.png', '..%2f/0.png', `${toToken({ path: '/', body: {}, at: 0 })}/0.png`, 'a/b/c.mp4'])(
    'to a file %s that nothing made with 404',
    async (name) => {
      expect((await get(`/outputs/${name}`)).statusCode).toBe(404);
    },
  );

  test('to HEAD and to other methods on a file', async () => {
    clock.time = START;
    const { url } = json(await post(ARK_IMAGES, anImage())).data[0];
    const { pathname } = new URL(url);

    expect(await get(pathname, 'HEAD')).toMatchObject({ statusCode: 200, body: '' });
    expect((await get(pathname, 'PUT')).statusCode).toBe(404);
  });
});

describe('a token', () => {
  test('holds a request of any length in what fits into a URL', () => {
    const body = { prompt: '灯'.repeat(5000), image: [`data:image/png;base64,${'A'.repeat(100_000)}`] };

    const token = toToken({ path: ARK_IMAGES, body, at: START });

    expect(token.length).toBeLessThan(2000);
    expect(fromToken(token)).toMatchObject({ path: ARK_IMAGES, at: START });
  });

  test.each(['', 'abc', 'AAAA', Buffer.from('{}').toString('base64url')])('is not any text: %j', (text) => {
    expect(fromToken(text)).toBeUndefined();
  });
});

describe('plain media', () => {
  test.each([
    [512, 512],
    [1025, 333],
    [2048, 1152],
  ])('are images of exactly %d by %d pixels, in colours that follow from the text', async (width, height) => {
    const draw = (format: 'png' | 'jpeg', text: string) =>
      PLAIN_MEDIA.drawImage({ width, height, text, format, caption: '', index: 0, watermark: false });
    const corner = async (bytes: Buffer) => [...(await sharp(bytes).raw().toBuffer()).subarray(0, 3)];

    const png = await draw('png', 'a fox');
    const jpeg = await draw('jpeg', 'a fox');

    for (const bytes of [png, jpeg]) expect(await sharp(bytes).metadata()).toMatchObject({ width, height });
    for (const [index, value] of (await corner(png)).entries()) {
      expect(Math.abs(value - ((await corner(jpeg))[index] ?? 0))).toBeLessThan(4);
    }
    // `toEqual` takes half a minute for this many bytes.
    expect(png.equals(await draw('png', 'a fox'))).toBe(true);
    expect(png.equals(await draw('png', 'a hen'))).toBe(false);
  });
});
