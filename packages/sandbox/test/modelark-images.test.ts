import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { arkErrorOf, useSandbox } from './sandbox-client.ts';

// Its files are made up.
const sandbox = useSandbox({ fetchInputs: false, plainImages: true });

const SEEDREAM_4_5 = 'seedream-4-5-251128';
const A_DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';

type Answer = { data: { url: string; b64_json?: string; size: string }[]; usage: Record<string, number> };

const imagesOf = async (fields: Record<string, unknown>): Promise<Answer> => {
  const response = await sandbox.arkImages(fields);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
};

const errorOf = async (fields: Record<string, unknown>) => arkErrorOf(await sandbox.arkImages(fields));

describe('ModelArk images', () => {
  test('have exactly the requested size', async () => {
    const answer = await imagesOf({ prompt: 'a red fox' });

    expect(answer).toEqual({
      model: 'dola-seedream-5-0-pro-260628',
      created: expect.closeTo(Date.now() / 1000, -1),
      data: [
        {
          url: expect.stringMatching(`^${sandbox.url}/outputs/[0-9a-f-]{36}\\.jpeg$`),
          size: '1280x720',
          output_format: 'jpeg',
        },
      ],
      usage: { generated_images: 1, output_tokens: 3_600, total_tokens: 3_600 },
    });
    const image = await fetch(answer.data[0]?.url ?? '');
    const bytes = Buffer.from(await image.arrayBuffer());
    expect(image.headers.get('content-type')).toBe('image/jpeg');
    expect(image.headers.get('content-length')).toBe(String(bytes.length));
    expect(image.headers.get('etag')).toMatch(/^".+"$/);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 1280, height: 720, format: 'jpeg' });
  });

  test.each([
    ['1K', {}, 1024],
    ['1.5K', {}, 1536],
    ['2K', {}, 2048],
    ['4K', { model: SEEDREAM_4_5 }, 4096],
    [undefined, {}, 2048],
  ])('are squares for the size token %s', async (size, fields, side) => {
    const { data } = await imagesOf({ prompt: 'a red fox', ...fields, size });

    const image = await fetch(data[0]?.url ?? '');
    expect(data[0]?.size).toBe(`${side}x${side}`);
    expect(await sharp(await image.arrayBuffer()).metadata()).toMatchObject({ width: side, height: side });
  });

  test('are inline on request, and PNG on request if the model supports it', async () => {
    const inline = { prompt: 'a red fox', output_format: 'png', response_format: 'b64_json' };
    const pro = await imagesOf(inline);
    const older = await imagesOf({ ...inline, model: SEEDREAM_4_5, size: '2560x1440' });

    const formatOf = async ({ data }: Answer) =>
      (await sharp(Buffer.from(data[0]?.b64_json ?? '', 'base64')).metadata()).format;
    expect(await formatOf(pro)).toBe('png');
    expect(await formatOf(older)).toBe('jpeg');
  });

  test('report the number of references', async () => {
    const { usage } = await imagesOf({
      prompt: 'a red fox',
      image: ['https://example.com/a.png', A_DATA_URL],
    });

    expect(usage).toMatchObject({ generated_images: 1, input_images: 2 });
  });

  test.each([
    ['the default', {}, 15],
    ['max_images', { sequential_image_generation_options: { max_images: 4 } }, 4],
    ['the limit less the references', { image: ['https://example.com/a.png', A_DATA_URL] }, 13],
    ['the directive', { prompt: 'a group [images=3]' }, 3],
    [
      'no more than max_images',
      { prompt: 'a group [images=9]', sequential_image_generation_options: { max_images: 2 } },
      2,
    ],
  ])('come in a group of the size given by %s', async (_, fields, count) => {
    const { data, usage } = await imagesOf({
      model: SEEDREAM_4_5,
      size: '2K',
      prompt: 'a group',
      sequential_image_generation: 'auto',
      ...fields,
    });

    expect(new Set(data.map(({ url }) => url)).size).toBe(count);
    expect(usage).toMatchObject({ generated_images: count, output_tokens: count * 16_384 });
  });

  test.each<[string, Record<string, unknown>, string, string?]>([
    ['no prompt', { prompt: undefined }, 'prompt', 'MissingParameter'],
    ['an unknown size token', { size: '3K' }, 'size'],
    ["another model's size token", { size: '4K' }, 'size'],
    ['too few pixels', { size: '1279x720' }, 'size'],
    ['too many pixels', { size: '2160x2160' }, 'size'],
    ['too long a side', { size: '4200x250' }, 'size'],
    ['a size with an asterisk', { size: '1280*720' }, 'size'],
    ['a reference that is not a URL', { image: 'fox.png' }, 'image'],
    [
      'a data URL with an upper-case type',
      { image: 'data:image/PNG;base64,aaaa' },

      'image',
    ],
    ['too many references', { image: Array(11).fill(A_DATA_URL) }, 'image'],
    ['an unknown response format', { response_format: 'html' }, 'response_format'],
    ['an unknown output format', { output_format: 'webp' }, 'output_format'],
    ['a watermark that is not a boolean', { watermark: 'no' }, 'watermark'],
    ['streaming', { stream: true }, 'stream'],
    [
      'a group from a model without groups',
      { sequential_image_generation: 'auto' },

      'sequential_image_generation',
    ],
  ])('are refused for %s', async (_, fields, param, code = 'InvalidParameter') => {
    expect(await errorOf({ prompt: 'a red fox', ...fields })).toEqual({
      status: 400,
      code,
      param,
      type: 'BadRequest',
      message: expect.stringMatching(/ Request id: 02\d{13}[0-9a-f]{32}$/),
    });
  });

  test.each([
    ['no image', 0, []],
    ['more than 15 images', 16, []],
    ['more than 15 with the references', 14, [A_DATA_URL, A_DATA_URL]],
  ])('are refused for a group of %s', async (_, maxImages, image) => {
    const fields = {
      model: SEEDREAM_4_5,
      size: '2K',
      prompt: 'a group',
      image,
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: maxImages },
    };

    expect(await errorOf(fields)).toMatchObject({
      status: 400,
      code: 'InvalidParameter',
      param: 'sequential_image_generation_options.max_images',
    });
  });

  test.each(['gpt-image-1', 'z-image-turbo', 'ep-20260101000000-abcde'])(
    'are refused for the unknown model %s',
    async (model) => {
      expect(await errorOf({ model, prompt: 'a red fox' })).toMatchObject({
        status: 404,
        code: 'InvalidEndpointOrModel.NotFound',
        type: 'NotFound',
      });
    },
  );
});

describe('ModelArk images under directives', () => {
  test.each([
    ['[fail=content_policy]', 400, 'InputTextSensitiveContentDetected', 'BadRequest'],
    ['[fail=content_policy] [delay=0.05]', 400, 'OutputImageSensitiveContentDetected', 'BadRequest'],
    ['[fail=provider_error]', 500, 'InternalServiceError', 'InternalServerError'],
  ])('%s returns %i %s', async (directive, status, code, type) => {
    expect(await errorOf({ prompt: `a red fox ${directive}` })).toMatchObject({ status, code, type });
  });

  test('[delay] delays the response', async () => {
    const startedAt = performance.now();

    await imagesOf({ prompt: 'a red fox [delay=0.2]' });

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(195);
  });

  test('[flaky] fails the first calls of a prompt and model only', async () => {
    const call = async (fields: Record<string, unknown>) => (await sandbox.arkImages(fields)).status;
    const flaky = { prompt: 'a flaky fox [flaky=2]' };

    expect(await errorOf(flaky)).toMatchObject({
      status: 429,
      code: 'ServerOverloaded',
      type: 'TooManyRequests',
    });
    expect(await call(flaky)).toBe(429);
    expect(await call(flaky)).toBe(200);
    expect(await call(flaky)).toBe(200);
    expect(await call({ prompt: 'another flaky fox [flaky=2]' })).toBe(429);
    expect(await call({ ...flaky, model: 'seedream-5-0-260128' })).toBe(429);
  });

  const statusesOf = (urls: string[]) => Promise.all(urls.map(async (url) => (await fetch(url)).status));

  test('[broken] breaks the URL of that image in a group', async () => {
    const group = { model: SEEDREAM_4_5, size: '2560x1440', sequential_image_generation: 'auto' };
    const some = await imagesOf({ ...group, prompt: 'a group [images=3] [broken=1]' });
    const all = await imagesOf({ ...group, prompt: 'a group [images=2] [broken=all]' });

    expect(await statusesOf(some.data.map(({ url }) => url))).toEqual([200, 410, 200]);
    expect(await statusesOf(all.data.map(({ url }) => url))).toEqual([410, 410]);
  });

  test('[broken] breaks the URL of that successful call in a fan-out', async () => {
    const prompt = 'a fan-out [flaky=1] [broken=1]';
    const first = await sandbox.arkImages({ prompt });
    const urls: string[] = [];
    for (const _ of [0, 1, 2]) urls.push((await imagesOf({ prompt })).data[0]?.url ?? '');

    expect(first.status).toBe(429);
    expect(await statusesOf(urls)).toEqual([200, 410, 200]);
  });

  test('a fan-out gives different images', async () => {
    const inline = { prompt: 'a varied fan-out', response_format: 'b64_json' };

    const [one, two] = [await imagesOf(inline), await imagesOf(inline)];

    expect(one.data[0]?.b64_json).not.toBe(two.data[0]?.b64_json);
  });
});
