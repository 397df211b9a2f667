import { beforeAll, describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { anImage } from '../../packages/media/test/images.ts';
import { type Caller, eventually, newCaller, sharedService, unique } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { history } from './support/ledger.ts';
import { ops } from './support/local-service.ts';
import { anAskedImage, caught, clientOf, user } from './support/openai.ts';
import { uniqueEmail } from './support/resources.ts';

let caller: Caller;
let openai: OpenAI;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  openai = clientOf(caller);
});

/** The image of a form. */
const bytesOf = ({ b64_json: text = '' }: { b64_json?: string } = {}): Buffer => Buffer.from(text, 'base64');
/** The request that an answer's images are of. */
const requestIn = ({ response }: { response: Response }): string =>
  response.headers.get('location')?.split('/').at(-1) ?? '';
/** What a refusal names; other errors are thrown on. */
const paramOf = (error: { param?: string }): string => {
  if (error.param === undefined) throw error;
  return error.param;
};
/** How often the caller was debited. */
const debits = async () => (await history(caller)).filter(({ reason }) => reason === 'generation').length;

describe("OpenAI's client", () => {
  test('reads the errors that the gateway makes itself as those of the service', async () => {
    const call = openai.images.generate(anAskedImage({ prompt: ' '.repeat(10 * 1024 * 1024) }));

    expect(await caught(call)).toMatchObject({
      ...{ status: 400, type: 'invalid_request_error', param: null },
      message: expect.stringContaining('The request body is too large.'),
    });
  });

  test('lists the models that can be dispatched, and finds one', async () => {
    const { data } = await caller.get<{ data: { id: string }[] }>('/v1/models').then(({ body }) => body);
    const models = await openai.models.list();

    expect(models.data.map(({ id }) => id)).toEqual(data.map(({ id }) => id));
    expect(await openai.models.retrieve('xQI3Pro')).toMatchObject({ id: 'xQI3Pro', object: 'model' });
  });

  test('makes an image, which is a record of the service as any other', async () => {
    const { data: images, response } = await openai.images.generate(anAskedImage()).withResponse();
    const requestId = requestIn({ response });
    const { body: record } = await caller.get<{ images: { url: string }[] }>(`/v1/generations/${requestId}`);

    expect(record).toMatchObject({ status: 'succeeded', endUserEmail: user, model: 'xZI1.0Pro' });
    const { bytes } = await fetchFile(record.images[0]?.url ?? '');
    expect(images.data?.map(bytesOf)).toEqual([bytes]);
    expect((await history(caller)).filter(({ reference }) => reference === requestId)).toHaveLength(1);
  });

  test('gets URLs if it asks for them', async () => {
    const { data = [] } = await openai.images.generate(
      anAskedImage({ model: 'xQI3Pro', size: '1024x1024', n: 2, response_format: 'url' }),
    );

    const files = await Promise.all(data.map(({ url = '' }) => fetchFile(url)));
    expect(files.map(({ status, type }) => [status, type])).toEqual([
      [200, 'image/png'],
      [200, 'image/png'],
    ]);
  });

  test.each([
    ['a file', 1],
    ['several files', 2],
  ])('edits images: the provider fetches what a form with %s carried', async (_, count) => {
    const image = await toFile(await anImage(640, 640, 'png'), 'a.png', { type: 'image/png' });
    const files = count === 1 ? image : Array(count).fill(image);
    const { data, response } = await openai.images
      .edit(anAskedImage({ model: 'xSD4.5', size: '2048x2048', image: files }) as never)
      .withResponse();

    expect((data as OpenAI.ImagesResponse).data).toHaveLength(1);
    const { body } = await caller.get(`/v1/generations/${requestIn({ response })}`);
    expect(body).toMatchObject({ status: 'succeeded', referencesCount: count });
  });

  test('names a model by an alias of the operators, and edits images by URL, in JSON', async () => {
    const alias = unique('gpt-image-').replaceAll(' ', '-');
    await ops(caller.service, 'models', 'alias', 'set', alias, '--model', 'xSD4.5');
    // Each function caches settings for 5 s.
    for (const path of ['/images/generations', '/images/edits'])
      await eventually(
        () => caught(openai.post(path, { body: { model: alias, images: [] } })),
        (error) => (error as { param?: string }).param !== 'model',
      );
    await eventually(
      () => openai.models.list(),
      ({ data: models }) => models.some(({ id }) => id === alias),
    );
    const size = '2048x2048';
    const hints = { quality: 'hd', style: 'vivid' };
    // Each process of a function caches settings.
    const made = await eventually(
      () =>
        openai.images
          .generate(anAskedImage({ model: alias, size, ...hints }))
          .withResponse()
          .catch(paramOf),
      (answer) => answer !== 'model',
    );
    if (typeof made !== 'object') throw new Error(`It was refused for ${made}.`);
    const { data, response } = made;
    const [image] = (data as OpenAI.ImagesResponse).data ?? [];
    expect(image).toEqual({ b64_json: expect.any(String), url: expect.any(String) });
    expect(response.headers.get('x-ignored-parameters')).toBe('quality, style');

    const images = [{ image_url: image?.url }];
    const query = { 'api-version': '1' };
    const body = anAskedImage({ model: alias, size, images });
    const edited = await eventually(
      () => openai.post('/images/edits', { body, query }).catch(paramOf),
      (answer) => answer !== 'model',
    );
    expect(edited).toMatchObject({ data: [expect.anything()] });
  });

  test('streams: the headers and a comment at once, then an event for each image', async () => {
    const body = JSON.stringify({
      ...anAskedImage({ model: 'xQI3Pro', size: '1024x1024', n: 2 }),
      stream: true,
    });
    const response = await fetch(`${caller.service.baseUrl}/openai/v1/images/generations`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json' },
      body: body.replace('"prompt":"', '"prompt":"[delay=3] '),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = Buffer.from((await reader.read()).value ?? []).toString();

    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(first).toMatch(/^: /);
    // What is sent only when the images are made would come with them.
    expect(first).not.toContain('data: ');
    const rest: Uint8Array[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(next.value);
    const events = Buffer.concat(rest)
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('data: '));
    expect(events.map((line) => JSON.parse(line.slice(6)))).toEqual(
      Array(2).fill({
        ...{ type: 'image_generation.completed', created_at: expect.any(Number) },
        ...{ b64_json: expect.any(String), url: expect.any(String) },
      }),
    );
  });

  test('meets a failure in a stream as an error, and a refusal before it as any other', async () => {
    const streamed = async (more: object) => {
      const ask = { ...anAskedImage(more), stream: true as const };
      for await (const _ of await openai.images.generate(ask as OpenAI.ImageGenerateParamsStreaming));
    };

    expect(await caught(streamed({ prompt: `${unique()} [fail=content_policy]` }))).toMatchObject({
      code: 'moderation_blocked',
    });
    expect(await caught(streamed({ size: '1x1' }))).toMatchObject({ status: 400, param: 'size' });
  });

  test("makes images for a key's default end-user", async () => {
    const email = uniqueEmail();
    const { service, accountId } = caller;
    const ofKey = ['keys', 'create', '--account', accountId, '--end-user', email];
    const { key, keyId } = await ops<{ key: string; keyId: string }>(service, ...ofKey);
    const client = clientOf({ ...caller, key });
    const ask = anAskedImage({ user: 'user-1234' });
    const { response } = await client.images.generate(ask).withResponse();
    const { body } = await caller.get(`/v1/generations/${requestIn({ response })}`);
    expect(body.endUserEmail).toBe(email);

    await ops(service, 'keys', 'set-end-user', '--key-id', keyId, '--end-user', 'none');
    expect(await caught(client.images.generate(ask))).toMatchObject({ status: 400, param: 'user' });
  });
});

describe("The client's own retry collects an image", () => {
  test('that takes longer than a response may, without a second debit', async () => {
    const before = await debits();
    const { data } = await openai.images.generate(anAskedImage({ prompt: unique('[delay=8]') }));

    expect(data).toHaveLength(1);
    expect(await debits()).toBe(before + 1);
  });

  test('whose connection broke, without a second debit', async () => {
    const before = await debits();
    const client = clientOf(caller, { fetch: breakingAt(before + 1), maxRetries: 4 });
    const { data } = await client.images.generate(anAskedImage({ prompt: unique('[delay=3]') }));

    expect(data).toHaveLength(1);
    expect(await debits()).toBe(before + 1);
  });

  test('of each of two equal calls at once whose connections broke', async () => {
    const before = await debits();
    const client = clientOf(caller, { fetch: breakingAt(before + 2), maxRetries: 4 });
    const ask = anAskedImage({ prompt: unique('[delay=3]') });
    const answers = await Promise.all([1, 2].map(() => client.images.generate(ask).withResponse()));

    expect(new Set(answers.map(requestIn)).size).toBe(2);
    expect(await debits()).toBe(before + 2);
  });
});

/** A `fetch` by which the connection of each first attempt breaks once the caller was debited so often. */
const breakingAt =
  (count: number) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    if (new Headers(init.headers).get('x-stainless-retry-count') !== '0') return fetch(url, init);
    const connection = new AbortController();
    const answer = caught(fetch(url, { ...init, signal: connection.signal }));
    await eventually(debits, (counted) => counted === count);
    connection.abort();
    await answer;
    throw new TypeError('The connection broke.');
  };
