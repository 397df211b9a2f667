import { describe, expect, test } from '@jest/globals';
import { SUBMIT_OUTCOMES, submitOutcomeOf } from '../../../providers/fal/errors.ts';
import { Fal } from '../../../providers/fal/fal.ts';
import { anImageRequest, aVideoRequest } from '../builders/entities.ts';
import { FAL_WIRE } from './conformance/fal.ts';
import { describeConformance } from './conformance/kit.ts';
import { answerWith, FAILURE, meaningOf, patient, server, withoutUpstream } from './conformance/server.ts';

describeConformance(FAL_WIRE);

const fal = () => new Fal({ baseUrl: server.url, apiKey: 'secret-key' });
const CALLBACK = 'https://api.example.com/callbacks/fal/vid_1/token?x=1';
const callsFor = (request: Parameters<Fal['plan']>[0], model: string) =>
  fal().plan(request, model, CALLBACK).calls;
/** Endpoint and body of each call. */
const planned = (request: Parameters<Fal['plan']>[0], model: string) =>
  callsFor(request, model).map(({ path, body }) => [path.replace(/\?.*$/, ''), body]);

const SEEDREAM = 'fal-ai/bytedance/seedream/v4.5';
const SEEDREAM_5 = 'bytedance/seedream/v5/pro';
const images = (fields: Parameters<typeof anImageRequest>[0]) =>
  anImageRequest({
    prompt: 'a fox',
    size: '2K',
    aspectRatio: 'square',
    references: [],
    images: 1,
    ...fields,
  });
const film = (fields: Parameters<typeof aVideoRequest>[0]) =>
  aVideoRequest({ prompt: 'a fox', resolution: '720p', durationSec: 4, ...fields });

describe('a submit to fal', () => {
  test('asks for one callback, and for no retry or reroute that could be paid twice', () => {
    const [call] = callsFor(film({}), 'alibaba/wan-3.0');

    expect(call?.path).toBe(`/alibaba/wan-3.0/text-to-video?fal_webhook=${encodeURIComponent(CALLBACK)}`);
    expect(call?.headers).toEqual({
      'x-fal-no-retry': '1',
      'x-app-fal-disable-fallback': 'true',
      'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":86400}',
      'x-fal-tags': `request=${film({}).requestId}`,
    });
  });

  test('is answered as the table of outcomes says, for every status', () => {
    const takenOf = (statuses: number[]) => statuses.map((status) => submitOutcomeOf(status).taken);

    expect(new Set(takenOf([200, 202, 302]))).toEqual(new Set(['yes']));
    expect(new Set(takenOf([400, 401, 403, 404, 413, 422, 429]))).toEqual(new Set(['no']));
    expect(new Set(takenOf([100, 408, 409, 499, 500, 502, 503, 504, 524]))).toEqual(new Set(['unknown']));
    for (const row of SUBMIT_OUTCOMES) {
      const statuses = Array.from({ length: 500 }, (_, index) => index + 100);
      expect(statuses.some((status) => submitOutcomeOf(status) === row)).toBe(true);
    }
  });
});

describe('images of fal', () => {
  const pixels = (width: number, height: number) => ({ width, height });
  const size = pixels(2048, 2048);

  test.each<[string, string, Parameters<typeof images>[0], object, string?]>([
    ['Seedream', SEEDREAM, {}, { image_size: size, num_images: 1 }],
    ['a shape of its own choice', SEEDREAM, { aspectRatio: 'auto' }, { image_size: 'auto_2K' }],
    ['4K', SEEDREAM, { size: '4K', aspectRatio: 'auto' }, { image_size: 'auto_4K' }],
    ['1K', SEEDREAM_5, { size: '1K', aspectRatio: 'auto' }, { image_size: 'auto_1K' }],
    ['no such name', SEEDREAM_5, { size: '1.5K', aspectRatio: 'auto' }, { image_size: pixels(1536, 1536) }],
    ['pixels', SEEDREAM_5, { size: '1600x900' }, { image_size: pixels(1600, 900) }],
    ['references', SEEDREAM, { references: ['https://a'] }, { image_urls: ['https://a'] }, '/edit'],
    ['a group', SEEDREAM, { sequential: true, images: 4 }, { num_images: 1, max_images: 4 }],
    ['Qwen', 'alibaba/qwen-image-3', {}, { image_size: size, enable_prompt_expansion: true }],
    ['Z-Image', 'fal-ai/z-image/turbo', {}, { image_size: size, enable_prompt_expansion: false }, ''],
  ])('are asked for: %s', (_, model, fields, body, route = '/text-to-image') => {
    const calls = planned(images(fields), model);

    expect(calls).toEqual([[`/${model}${route}`, expect.objectContaining({ prompt: 'a fox', ...body })]]);
    expect(JSON.stringify(calls)).not.toMatch(/sync_mode|safety|"image_urls":\[\]/);
  });

  test.each([
    [6, 0, [6]],
    [7, 0, [6, 1]],
    [15, 0, [6, 6, 3]],
    [15, 10, [5, 5, 5]],
    [6, 10, [5, 1]],
  ])('%p with %p references are asked for in calls of %j', (count, references, counts) => {
    const urls = Array.from({ length: references }, (_, index) => `https://files.example.com/${index}`);
    const calls = callsFor(images({ images: count, references: urls }), SEEDREAM);

    expect(calls.map(({ body }) => body.num_images)).toEqual(counts);
  });
});

test('what a request does not ask for is not sent to fal, as no key without a value', () => {
  const requests: [Parameters<Fal['plan']>[0], string][] = [
    [images({}), SEEDREAM],
    [images({}), SEEDREAM_5],
    [images({ sequential: true, images: 2 }), SEEDREAM],
    [film({ ratio: undefined }), 'alibaba/wan-3.0'],
  ];

  for (const [request, model] of requests)
    for (const { body } of callsFor(request, model)) expect(Object.values(body)).not.toContain(undefined);
  expect(
    callsFor(film({ ratio: undefined }), 'alibaba/wan-3.0').map(({ body }) => Object.keys(body)),
  ).toEqual([['prompt', 'resolution', 'duration', 'enable_prompt_expansion']]);
});

test('each call of a request for images with a seed has another one, and a group one call', () => {
  const seedsOf = (fields: Parameters<typeof images>[0]) =>
    callsFor(images({ seed: 7, ...fields }), SEEDREAM).map(({ body }) => body.seed);

  expect(seedsOf({ images: 15 })).toEqual([7, 8, 9]);
  expect(seedsOf({ images: 4, sequential: true })).toEqual([7]);
});

describe('a video of fal', () => {
  test.each([
    ['a prompt alone', { ratio: '9:16' }, 'text-to-video', { aspect_ratio: '9:16' }],
    [
      'frames',
      { image: 'https://a', lastFrame: 'https://b', ratio: 'adaptive' },
      'image-to-video',
      { start_image_url: 'https://a', end_image_url: 'https://b', aspect_ratio: 'adaptive' },
    ],
    [
      'references',
      { referenceImages: ['https://a'], referenceVideos: ['https://b'], referenceAudios: ['https://c'] },
      'reference-to-video',
      {
        aspect_ratio: 'adaptive',
        reference_image_urls: ['https://a'],
        reference_video_urls: ['https://b'],
        reference_audio_urls: ['https://c'],
      },
    ],
  ])('of %s is asked for by its own endpoint', (_, fields, route, body) => {
    const common = { prompt: 'a fox', resolution: '720p', duration: 4, enable_prompt_expansion: true };

    expect(planned(film(fields), 'alibaba/wan-3.0')).toEqual([
      [`/alibaba/wan-3.0/${route}`, { ...common, ...body }],
    ]);
  });

  test('of Wan 2.7 calls its image otherwise', () => {
    expect(planned(film({ image: 'https://a' }), 'fal-ai/wan/v2.7')).toEqual([
      ['/fal-ai/wan/v2.7/image-to-video', expect.objectContaining({ image_url: 'https://a' })],
    ]);
  });
});

describe('the result of a request to fal', () => {
  const DONE = { status: 200, body: { status: 'COMPLETED' } };
  const result = (status: number, body: unknown) => {
    answerWith({ status, body, first: { pathEnd: '/status', answer: DONE } });
    return meaningOf(fal().query('owner/app/1', patient()));
  };

  test('has the images in order, and what became of each', async () => {
    const body = { images: [{ url: 'https://a' }, { url: null }, { url: 'https://c' }] };

    expect(await result(200, { ...body, has_nsfw_concepts: [false, false, true] })).toEqual({
      kind: 'done',
      outputs: [{ url: 'https://a' }, { failure: FAILURE.error }, { failure: FAILURE.output }],
    });
  });

  test('has the seconds of a video, which are billed', async () => {
    expect(await result(200, { video: { url: 'https://a', duration: 3.008 } })).toEqual({
      kind: 'done',
      outputs: [{ url: 'https://a' }],
      usage: { outputSeconds: 3.008 },
    });
  });

  const BLAMED = { blamesInput: true };
  const flagged = { images: [{ url: 'https://a' }], has_nsfw_concepts: [true] };
  const missing = { detail: [{ type: 'missing', msg: 'no', loc: ['body'] }] };
  const late = { detail: [{ type: 'generation_timeout', msg: '' }] };
  test.each<[string, number, object, object, object?]>([
    ['every image flagged', 200, flagged, FAILURE.output],
    ['an error for media', 200, { error: 'no', error_type: 'content_policy_violation' }, FAILURE.content],
    ['a field that it refuses', 422, missing, FAILURE.input, BLAMED],
    ['an error in words', 422, { detail: 'no' }, FAILURE.input, BLAMED],
    ['a maker that is down', 400, { detail: [{ type: 'downstream_service_error' }] }, FAILURE.error],
    ['a model that took too long', 504, late, FAILURE.timeout],
    ['a runner that broke', 503, { detail: 'no', error_type: 'runner_disconnected' }, FAILURE.error],
    ['no video', 200, { video: null }, FAILURE.error],
  ])('fails for %s', async (_, status, body, failure, blamed = {}) => {
    expect(withoutUpstream(await result(status, body))).toEqual({ kind: 'failed', failure, ...blamed });
  });

  test.each([
    [400, { detail: 'Request is still in progress' }, 'busy'],
    [404, { detail: 'Not found' }, 'refused'],
    [302, '', 'refused'],
    [408, '', 'busy'],
    [429, { detail: [{ type: 'rate', msg: '' }] }, 'busy'],
    [502, '<html></html>', 'busy'],
    [500, { detail: 'no' }, 'busy'],
    [200, 'garbage', 'refused'],
    [401, { detail: 'no' }, 'refused'],
    [403, { detail: 'no', error_type: 'locked' }, 'refused'],
  ])('that is answered with %p %j tells nothing, and is read again', async (status, body, kind) => {
    expect(await result(status, body)).toMatchObject({ kind });
  });

  test('is not read while the request is under way', async () => {
    answerWith({ status: 202, body: { status: 'IN_QUEUE' } });

    expect(await fal().query('owner/app/1', patient())).toEqual({ kind: 'waiting' });
    expect(server.requests).toMatchObject([
      { path: '/owner/app/requests/1/status', headers: { authorization: 'Key secret-key' } },
    ]);
  });
});

test('a cancelled request that was not taken out of the queue is told', async () => {
  server.answer(404, { status: 'NOT_FOUND' });

  expect(await fal().cancel('owner/app/1', patient())).toEqual({
    kind: 'not-cancelled',
    reason: 'NOT_FOUND',
  });
});
