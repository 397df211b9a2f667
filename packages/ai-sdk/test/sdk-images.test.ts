import { describe, expect, test } from '@jest/globals';
import { generateImage } from 'ai';
import { hang, json } from '../../client/test/server.ts';
import { PNG, startService, thrownBy } from './a-service.ts';

const { server, answer, provider, created, creations } = startService();
const QUICK = { generationService: { pollIntervalMs: 1 } };
const prompt = 'a lighthouse';
const model = (id = 'xSD4.5') => provider().image(id);

describe('generateImage', () => {
  test('makes an image, waits for it, and returns its file with what it cost', async () => {
    answer();
    const result = await generateImage({ model: model(), prompt, providerOptions: QUICK });

    expect(result.image.uint8Array).toEqual(PNG);
    expect(result.image.mediaType).toBe('image/png');
    expect(result.warnings).toEqual([]);
    expect(created()).toEqual({ model: 'xSD4.5', prompt, endUserEmail: 'ada@example.com', n: 1 });
    expect(result.calls[0]?.providerMetadata?.generationService).toMatchObject({
      requestId: 'img_1',
      cost: 12,
    });
    expect(result.image.providerMetadata).toEqual({
      generationService: { id: 'img_1_0', size: '1024x1024', expiresAt: '2999-01-01T00:00:00.000Z' },
    });
    expect(result.responses[0]).toMatchObject({
      modelId: 'xSD4.5',
      timestamp: expect.any(Date),
      headers: { 'x-request-id': 'call-1' },
    });
  });

  test('reads until the images are there', async () => {
    const done = { requestId: 'img_1', status: 'succeeded', cost: 1, images: [] };
    const statuses = ['queued', 'processing'];
    answer({
      'GET /v1/generations/img_1': (seen, response) =>
        json(200, { ...done, status: statuses.shift() ?? 'succeeded' })(seen, response),
    });
    await thrownBy(generateImage({ model: model(), prompt, providerOptions: QUICK }));

    expect(server.seen.filter(({ path }) => path.endsWith('img_1'))).toHaveLength(3);
  });

  test('sends what the model takes: size, a preset, a ratio and the fields of the service', async () => {
    answer();
    await generateImage({ model: model(), prompt, size: '1024x512', n: 2, providerOptions: QUICK });
    expect(created()).toMatchObject({ size: '1024x512', n: 2 });

    await generateImage({
      ...{ model: model(), prompt, aspectRatio: '16:9' },
      providerOptions: {
        generationService: { ...QUICK.generationService, endUserEmail: 'bob@example.com', size: '2K' },
      },
    });
    expect(created()).toEqual({
      ...{ model: 'xSD4.5', prompt, n: 1, size: '2K', aspectRatio: 'landscape' },
      endUserEmail: 'bob@example.com',
    });
  });

  test('divides images into requests of as many as the model makes, and reads the models once', async () => {
    answer();
    const { images } = await generateImage({ model: model(), prompt, n: 5, providerOptions: QUICK });

    expect(images).toHaveLength(3);
    expect(creations().map(({ body }) => JSON.parse(body).n)).toEqual([2, 2, 1]);
    expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
    expect(server.seen.filter(({ path }) => path === '/v1/models')).toHaveLength(1);
  });

  test('uploads files, and sends URLs as they are', async () => {
    answer();
    await generateImage({
      model: model(),
      prompt: {
        text: prompt,
        images: ['https://example.com/a.png', PNG, Buffer.from(PNG).toString('base64')],
      },
      providerOptions: QUICK,
    });

    const uploads = server.seen.filter(({ path }) => path === '/v1/uploads');
    const announced = { contentType: 'image/png', bytes: PNG.length };
    expect(uploads.map(({ body }) => JSON.parse(body))).toEqual([announced, announced]);
    expect(created().references).toEqual([
      'https://example.com/a.png',
      expect.stringContaining('https://files.example.com/upload-'),
      expect.stringContaining('https://files.example.com/upload-'),
    ]);
  });

  test('passes a seed to a model that has the parameter', async () => {
    answer();
    const { warnings } = await generateImage({
      model: model('seeded'),
      prompt,
      seed: 4711,
      providerOptions: QUICK,
    });

    expect(warnings).toEqual([]);
    expect(created()).toMatchObject({ model: 'seeded', seed: 4711 });
  });

  test('leaves out what the model does not take, and warns', async () => {
    answer();
    const { warnings } = await generateImage({
      ...{
        model: model('xZI1.0Pro'),
        size: '4096x4096',
        aspectRatio: '3:2',
        seed: 1,
        providerOptions: QUICK,
      },
      prompt: { text: prompt, images: ['https://example.com/a.png'], mask: PNG },
    });

    expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
      ...['size', 'aspectRatio', 'seed', 'mask', 'files'],
    ]);
    expect(warnings[0]).toMatchObject({ type: 'unsupported', details: expect.stringContaining('4096x4096') });
    expect(created()).toEqual({ model: 'xZI1.0Pro', prompt, endUserEmail: 'ada@example.com', n: 1 });
    expect(server.seen.filter(({ path }) => path === '/v1/uploads')).toEqual([]);
  });

  test.each([
    ['256x256', true],
    ['255x300', false],
    ['2560x2560', true],
    ['2561x300', false],
    ['2560x256', true],
    ['2560x255', false],
  ] as const)('judges the size %s by the bounds of the model', async (size, isTaken) => {
    answer();
    const { warnings } = await generateImage({ model: model(), prompt, size, providerOptions: QUICK });

    expect(created().size).toBe(isTaken ? size : undefined);
    expect(warnings).toHaveLength(isTaken ? 0 : 1);
  });

  test('warns of a ratio beside a size that says it', async () => {
    answer();
    const call = { model: model(), prompt, size: '1024x512', aspectRatio: '1:1' } as const;
    const { warnings } = await generateImage({ ...call, providerOptions: QUICK });

    expect(warnings).toEqual([{ type: 'unsupported', feature: 'aspectRatio', details: 'The size says it.' }]);
    expect(created().aspectRatio).toBeUndefined();
  });

  test('warns of an image that could not be stored, and returns the others', async () => {
    const item = { size: '1x1', expiresAt: '2999-01-01T00:00:00.000Z' };
    answer({
      'GET /v1/generations/img_1': json(200, {
        ...{ requestId: 'img_1', status: 'succeeded', cost: 2 },
        images: [
          { ...item, id: 'img_1_0', url: `${server.url}/img_1_0` },
          { ...item, id: 'img_1_1', error: { code: 'storage_failed' } },
        ],
      }),
    });
    const { images, warnings } = await generateImage({
      model: model(),
      prompt,
      n: 2,
      providerOptions: QUICK,
    });

    expect(images).toHaveLength(1);
    expect(warnings).toEqual([{ type: 'other', message: 'The image img_1_1 could not be stored.' }]);
  });

  test('sends headers and a key of yours to the API, and neither to the files', async () => {
    answer();
    const headers = { 'x-tenant': 'a', 'Idempotency-Key': 'mine', authorization: 'Bearer other' };
    await generateImage({
      ...{ prompt, headers, providerOptions: QUICK },
      model: provider({ headers: { 'x-app': 'b' } }).image('xSD4.5'),
    });

    expect(creations()[0]?.headers).toMatchObject({
      ...{ 'x-tenant': 'a', 'x-app': 'b', 'idempotency-key': 'mine', authorization: 'Bearer gsk_test' },
      'user-agent': expect.stringMatching(/^ai\/7/),
    });
    const read = server.seen.find(({ path }) => path === '/v1/generations/img_1');
    expect(read?.headers).toMatchObject({ 'x-tenant': 'a' });
    expect(read?.headers['idempotency-key']).toBeUndefined();
    const file = server.seen.find(({ path }) => path === '/img_1_0');
    expect([file?.headers['x-tenant'], file?.headers.authorization]).toEqual([undefined, undefined]);
  });
});

describe('An abort', () => {
  test.each([
    ['the list of models', 'GET /v1/models'],
    ['the creation', 'POST /v1/generations'],
    ['the wait', 'GET /v1/generations/img_1'],
    ['the file', 'GET /img_1_0'],
  ])('ends %s at once with the reason of the signal', async (_what, route) => {
    const aborting = new AbortController();
    const reason = new DOMException('enough', 'AbortError');
    answer({
      [route]: (...call) => {
        aborting.abort(reason);
        return hang(...call);
      },
    });
    const { signal: abortSignal } = aborting;
    const call = { prompt, abortSignal, maxImagesPerCall: 1, providerOptions: QUICK };

    expect(await thrownBy(generateImage({ ...call, model: model() }))).toBe(reason);
  });
});
