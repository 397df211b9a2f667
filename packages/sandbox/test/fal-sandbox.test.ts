import { createHash, createPublicKey, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from '@jest/globals';
import { poll, useSandbox } from './sandbox-client.ts';

const sandbox = useSandbox({ plainImages: true });
const KEY = { authorization: 'Key test-key' };
const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = KEY) => {
  const response = await sandbox.call(method, `/fal${path}`, body, headers);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const SEEDREAM = '/fal-ai/bytedance/seedream/v4.5/text-to-image';
const QWEN = '/alibaba/qwen-image-3/text-to-image';
const WAN = '/alibaba/wan-3.0/text-to-video';
const appOf = (endpoint: string) => endpoint.split('/').slice(0, 3).join('/');

/** Submits, and returns the path of the request. */
const submit = async (endpoint: string, input: Record<string, unknown>) => {
  const { status, body } = await call('POST', endpoint, input);
  expect([status, body.status]).toEqual([200, 'IN_QUEUE']);
  return `${appOf(endpoint)}/requests/${body.request_id}`;
};
const untilCompleted = (path: string) =>
  poll(
    () => call('GET', `${path}/status`),
    ({ body }) => body.status === 'COMPLETED',
  );
const resultOf = async (endpoint: string, input: Record<string, unknown>) => {
  const path = await submit(endpoint, input);
  await untilCompleted(path);
  return call('GET', path);
};

describe('a request to fal', () => {
  test('is queued, runs and ends, and its URLs have the application alone', async () => {
    const { body } = await call('POST', SEEDREAM, { prompt: 'a fox [queued=60]' });
    const path = `/fal-ai/bytedance/requests/${body.request_id}`;

    expect(body).toMatchObject({
      response_url: `${sandbox.url}/fal${path}`,
      status_url: `${sandbox.url}/fal${path}/status`,
      cancel_url: `${sandbox.url}/fal${path}/cancel`,
    });
    expect(await call('GET', `${path}/status`)).toMatchObject({ status: 202, body: { status: 'IN_QUEUE' } });
    expect(await call('GET', path)).toEqual({
      status: 400,
      body: { detail: 'Request is still in progress' },
    });
    const running = await submit(SEEDREAM, { prompt: 'a fox [queued=0] [fail=timeout]' });
    expect(await call('GET', `${running}/status`)).toMatchObject({
      ...{ status: 202, body: { status: 'IN_PROGRESS' } },
    });
    const ended = await submit(SEEDREAM, { prompt: 'a fox [delay=0]' });
    expect((await untilCompleted(ended)).status).toBe(200);
  });

  test('makes as many images as it asks for, of its size', async () => {
    const input = { prompt: 'a fox [delay=0]', image_size: { width: 2048, height: 1024 }, num_images: 2 };
    const { status, body } = await resultOf(QWEN, input);
    const images = body.images as { url: string; content_type: string; width: null }[];

    expect([status, images.length]).toEqual([200, 2]);
    expect(images[0]).toMatchObject({ content_type: 'image/png', width: null });
    expect((await fetch(images[0]?.url ?? '')).headers.get('content-type')).toBe('image/png');
  });

  test('makes a video', async () => {
    const input = { prompt: 'a fox [delay=0]', resolution: '480p', duration: 2, aspect_ratio: '1:1' };

    expect((await resultOf(WAN, input)).body).toMatchObject({
      video: { url: expect.stringMatching(/\.mp4$/), content_type: 'video/mp4', duration: 2 },
    });
  });

  test.each([
    ['too small an image', SEEDREAM, { image_size: { width: 64, height: 64 } }, 'image_too_small'],
    ['too large an image', QWEN, { image_size: { width: 4096, height: 4096 } }, 'image_too_large'],
    ['a size that the model does not name', QWEN, { image_size: 'auto_2K' }, 'image_size'],
    ['too many images', SEEDREAM, { num_images: 7 }, 'less_than_equal'],
    ['too large a group', SEEDREAM, { max_images: 7 }, 'less_than_equal'],
    ['no image to edit', SEEDREAM.replace('text-to-image', 'edit'), {}, 'missing'],
    ['too long a video', WAN, { duration: 31 }, 'video_duration'],
    ['an unknown resolution', WAN, { resolution: '4k' }, 'one_of'],
    ['an unknown path', '/alibaba/wan-3.0/text-to-song', {}, 'path_not_found'],
    ['content', WAN, { prompt: 'a fox [delay=0] [fail=content_policy]' }, 'content_policy_violation'],
  ])('with %s is taken, and its result is 422', async (_, endpoint, input, type) => {
    const { status, body } = await resultOf(endpoint, { prompt: 'a fox [delay=0]', ...input });

    expect([status, (body.detail as { type: string }[])[0]?.type]).toEqual([422, type]);
  });

  test('of Z-Image is flagged for its content, and does not fail', async () => {
    const prompt = 'a fox [delay=0] [fail=content_policy]';

    expect(await resultOf('/fal-ai/z-image/turbo', { prompt })).toMatchObject({
      status: 200,
      body: { images: [{ url: expect.any(String) }], has_nsfw_concepts: [true] },
    });
  });

  test('is refused without the key, for an unknown application, and when there are too many', async () => {
    expect(await call('POST', SEEDREAM, {}, { authorization: 'Bearer test-key' })).toMatchObject({
      status: 401,
    });
    expect(await call('POST', '/fal-ai/nothing/x', {})).toMatchObject({
      status: 404,
      body: { detail: 'Application "nothing" not found' },
    });
    expect(await call('POST', SEEDREAM, { prompt: 'a [flaky=1]' })).toMatchObject({
      status: 429,
      body: { error_type: 'concurrent_requests_limit' },
    });
  });

  test('of another application or of nobody is not found', async () => {
    const path = await submit(SEEDREAM, { prompt: 'a fox [delay=0]' });
    const other = path.replace('/fal-ai/bytedance/', '/fal-ai/wan/');

    for (const unknown of [`${other}/status`, other]) {
      expect(await call('GET', unknown)).toEqual({ status: 404, body: { status: 'NOT_FOUND' } });
    }
    expect(await call('PUT', `${other}/cancel`)).toMatchObject({ status: 404 });
  });

  test('is cancelled in the queue, goes on when it runs, and stays ended', async () => {
    const queued = await submit(SEEDREAM, { prompt: 'a fox [queued=60]' });
    expect(await call('PUT', `${queued}/cancel`)).toEqual({ status: 200, body: { status: 'OK' } });
    expect((await untilCompleted(queued)).body).toMatchObject({ error_type: 'client_cancelled' });

    const running = await submit(SEEDREAM, { prompt: 'a fox [queued=0] [fail=timeout]' });
    expect(await call('PUT', `${running}/cancel`)).toEqual({
      status: 202,
      body: { status: 'CANCELLATION_REQUESTED' },
    });
    expect((await call('GET', `${running}/status`)).body).toMatchObject({ status: 'IN_PROGRESS' });
    const ended = await submit(SEEDREAM, { prompt: 'a fox [delay=0]' });
    await untilCompleted(ended);
    expect(await call('PUT', `${ended}/cancel`)).toEqual({
      status: 400,
      body: { status: 'ALREADY_COMPLETED' },
    });
    expect(await call('GET', ended)).toMatchObject({ status: 200 });
  });
});

describe('a webhook of fal', () => {
  const got: { headers: Record<string, unknown>; body: string }[] = [];
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    got.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
    response.writeHead(200).end();
  });
  const listening = new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  afterAll(() => void receiver.close());

  const webhookOf = async (prompt: string) => {
    await listening;
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?a=1`;
    const path = await submit(`${QWEN}?fal_webhook=${encodeURIComponent(url)}`, { prompt });
    const id = path.split('/').at(-1);
    const found = await poll(
      async () => got.find(({ headers }) => headers['x-fal-webhook-request-id'] === id),
      (one) => one !== undefined,
    );
    return { id, headers: found?.headers ?? {}, body: found?.body ?? '' };
  };
  const isSigned = async ({ headers, body }: { headers: Record<string, unknown>; body: string }) => {
    const { body: jwks } = await call('GET', '/.well-known/jwks.json', undefined, { authorization: '' });
    const [jwk] = jwks.keys as [Record<string, string>];
    const lines = ['request-id', 'user-id', 'timestamp'].map((name) => headers[`x-fal-webhook-${name}`]);
    const message = [...lines, createHash('sha256').update(body).digest('hex')].join('\n');
    const signature = Buffer.from(String(headers['x-fal-webhook-signature']), 'hex');
    return verify(null, Buffer.from(message), createPublicKey({ key: jwk, format: 'jwk' }), signature);
  };

  test('is sent once, at the end, signed by the published key', async () => {
    const sent = await webhookOf('a fox [delay=0.1]');

    expect(JSON.parse(sent.body)).toMatchObject({
      ...{ request_id: sent.id, gateway_request_id: sent.id, status: 'OK', error: null },
      payload: { images: [{ url: expect.any(String) }] },
    });
    expect(await isSigned(sent)).toBe(true);
    expect(await isSigned({ ...sent, body: `${sent.body} ` })).toBe(false);
    expect(got.filter(({ body }) => body.includes(String(sent.id)))).toHaveLength(1);
  });

  test('tells an error with the payload of the result', async () => {
    const { body } = await webhookOf('a fox [delay=0.1] [fail=content_policy]');

    expect(JSON.parse(body)).toMatchObject({
      ...{ status: 'ERROR', error: 'Invalid status code: 422' },
      payload: { detail: [{ type: 'content_policy_violation' }] },
    });
  });

  test('is signed by another key where the prompt asks for a forged one', async () => {
    expect(await isSigned(await webhookOf('a fox [delay=0.1] [callback=forged]'))).toBe(false);
  });
});
