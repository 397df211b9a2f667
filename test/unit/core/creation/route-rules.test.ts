import { describe, expect, test } from '@jest/globals';
import { clipProblems, parseVideoRequest } from '../../../../core/creation/create-video-rules.ts';
import { earlyProblems, judgeCreation } from '../../../../core/creation/judge-creation.ts';
import { findVideoModel } from '../../../../core/models/catalog.ts';
import { KNOWN_LIMITS, type UpstreamLimits } from '../../../../core/provider-calls/upstream-limits.ts';
import { urlsOf } from '../../builders/bodies.ts';
import { NOW } from '../../builders/clocks.ts';
import { anAccount } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { accepted } from './parsed-images.ts';

const Z_IMAGE = KNOWN_LIMITS['z-image-turbo'] as UpstreamLimits;
const creation = (body: object) => accepted({ model: 'xZI1.0Pro', ...body });

describe('a creation within the catalog’s limits', () => {
  test.each([
    [{ size: '512x512' }, {}],
    [{ size: '2048x2048' }, {}],
    [{ size: '2K', aspectRatio: 'landscape' }, {}],
    [{ prompt: '🦊'.repeat(800) }, {}],
    [{ prompt: 'a'.repeat(801) }, { prompt: 'must be at most 800 characters long' }],
    [
      { size: '256x256' },
      { size: 'has 65,536 pixels; the provider takes 262,144 to 4,194,304 (e.g. 1024x1024)' },
    ],
    [
      { size: '2560x2560' },
      { size: 'has 6,553,600 pixels; the provider takes 262,144 to 4,194,304 (e.g. 1024x1024)' },
    ],
  ])('that a route does not take is refused on its field: %j', (body, fields) => {
    expect(earlyProblems(creation(body), [Z_IMAGE])).toEqual(fields);
    expect(earlyProblems(creation(body), [{}])).toEqual({});
  });

  test.each([
    [6, {}],
    [7, { sequentialOptions: 'must ask for at most 6 images' }],
  ])('for a group of %p images is refused where a route makes fewer', (maxImages, fields) => {
    const group = creation({ model: 'xSD4.5', sequential: 'auto', sequentialOptions: { maxImages } });

    expect(earlyProblems(group, [{ groupImages: 6 }])).toEqual(fields);
    // The limit on `n` is none on a group.
    expect(earlyProblems(group, [{ groupImages: 6, images: 1 }])).toEqual(fields);
    expect(earlyProblems(creation({ model: 'xSD4.5', n: 7 }), [{ groupImages: 6 }])).toEqual({});
  });

  test.each<[UpstreamLimits, object]>([
    [{}, {}],
    [{ parameters: ['seed'] }, {}],
    [{ parameters: [] }, { seed: 'is taken by no route of the model' }],
  ])('with a seed is judged by a route that says which parameters it takes: %j', (limits, fields) => {
    expect(earlyProblems(creation({ model: 'xQI3Pro', seed: 7 }), [limits])).toEqual(fields);
  });

  test('that one of several routes takes is not refused; that none takes is refused as the first says', () => {
    const large = creation({ size: '2560x2560' });

    expect(earlyProblems(large, [Z_IMAGE, {}])).toEqual({});
    expect(earlyProblems(large, [{}, Z_IMAGE])).toEqual({});
    expect(earlyProblems(large, [{ maxPixels: 1 }, Z_IMAGE])).toEqual({
      size: 'has 6,553,600 pixels; the provider takes 1 to 1',
    });
    expect(earlyProblems(large, [])).toEqual({});
  });

  test('is judged by a route that refuses early, and by no other', async () => {
    const submission = anImageSubmission({ model: 'xZI1.0Pro', prompt: 'a'.repeat(801) });
    const judgeWith = (more: object) =>
      withEnvironment(
        {
          MODEL_ROUTES: JSON.stringify({
            'xZI1.0Pro': { provider: 'modelstudio', upstreamModel: 'z-image-turbo', ...more },
          }),
        },
        async () => judgeCreation(anAccount(), submission, theFacts()),
      );

    await expect(judgeWith({ refusesEarly: true })).rejects.toMatchObject({
      code: 'validation_error',
      fields: { prompt: 'must be at most 800 characters long' },
    });
    await expect(judgeWith({})).resolves.toMatchObject({ creation: { prompt: 'a'.repeat(801) } });
  });

  describe('that only a route left by hand takes', () => {
    const route = (provider: string, upstreamModel: string, limits = {}) => ({
      provider,
      upstreamModel,
      limits,
    });
    const left = { 'modelark/seedream': NOW.toISOString(), 'modelark/wan': NOW.toISOString() };
    const judgeWith = (submission: ReturnType<typeof anImageSubmission>, limits: object) =>
      withEnvironment(
        {
          MODEL_ROUTES: JSON.stringify({
            xQI3Pro: [route('modelark', 'seedream'), route('modelstudio', 'other', limits)],
          }),
        },
        async () => judgeCreation(anAccount(), submission, { ...theFacts(), left }),
      );

    test.each<[string, object, object, object, object]>([
      ['n', { n: 2 }, { images: 1 }, { n: 'must be at most 1 now' }, { images: 2 }],
      [
        'size',
        { size: '1K' },
        { minPixels: 9e6 },
        { size: expect.stringContaining('pixels') },
        { minPixels: 1024 * 1024 },
      ],
      [
        'prompt',
        { prompt: 'abc' },
        { promptCharacters: 2 },
        { prompt: 'must be at most 2 characters long' },
        { promptCharacters: 3 },
      ],
      [
        'references',
        { references: ['https://a.example/1.png'] },
        { references: 0 },
        { references: 'must be at most 0 now' },
        { references: 1 },
      ],
    ])(
      'is refused on its %s before any debit, and taken by a route that takes just as much',
      async (_, body, limits, fields, enough) => {
        const submission = anImageSubmission(body as Record<string, unknown>);

        await expect(judgeWith(submission, limits)).rejects.toMatchObject({
          code: 'validation_error',
          fields,
        });
        for (const taken of [enough, {}]) await expect(judgeWith(submission, taken)).resolves.toBeDefined();
      },
    );

    const video = (body: Record<string, unknown>) => {
      const parsed = parseVideoRequest(
        { model: 'xW3.0s', prompt: 'a', endUserEmail: 'a@example.com', ...body },
        false,
      );
      if (!parsed.ok) throw parsed.error;
      return parsed.creation;
    };

    test.each<[Record<string, unknown>, UpstreamLimits, object, UpstreamLimits]>([
      [
        { resolution: '1080p' },
        { resolutions: ['480p', '720p'] },
        { resolution: 'must be one of 480p, 720p now' },
        { resolutions: ['720p', '1080p'] },
      ],
      [
        { ratio: '9:16' },
        { ratios: ['16:9'] },
        { ratio: 'must be one of 16:9 now' },
        { ratios: ['16:9', '9:16'] },
      ],
      [{ durationSec: 3 }, { minSeconds: 4 }, { durationSec: 'must be at least 4 now' }, { minSeconds: 3 }],
      [{ durationSec: 9 }, { maxSeconds: 8 }, { durationSec: 'must be at most 8 now' }, { maxSeconds: 9 }],
      [
        { referenceImages: urlsOf('png', 2) },
        { references: 1 },
        { referenceImages: 'must be at most 1 now' },
        { references: 2 },
      ],
    ])('is refused on the field of a video, but not at the limit: %j', (body, limits, fields, enough) => {
      expect(earlyProblems(video(body), [limits])).toEqual(fields);
      for (const taken of [enough, {}]) expect(earlyProblems(video(body), [taken])).toEqual({});
    });

    test('is not refused for a ratio that its model does not have', () => {
      const still = video({ model: 'xW2.7S', image: 'https://a.example/1.png' });

      expect(still).not.toHaveProperty('ratio');
      expect(earlyProblems(still, [{ ratios: ['16:9'] }])).toEqual({});
    });

    test('is refused on its model when no route is in use', async () => {
      const all = { 'modelstudio/qwen-image': NOW.toISOString() };
      const judge = async () =>
        judgeCreation(anAccount(), anImageSubmission({}), { ...theFacts(), left: all });

      await expect(judge()).rejects.toMatchObject({ fields: { model: 'cannot be dispatched now' } });
    });
  });

  test('with reference videos that are longer together than the route takes is refused on them', () => {
    const model = findVideoModel('xW3.0s');
    if (!model) throw new Error('There is no such model.');
    const clips = [{ durationMs: 10_000 }, { durationMs: 5_001 }];

    expect(clipProblems(2, clips, model)).toEqual({});
    expect(clipProblems(2, clips, { ...model, routeSeconds: 15 })).toEqual({
      referenceVideos: 'last 15.001 s together; the model takes up to 15 s',
    });
    expect(clipProblems(2, clips, { ...model, routeSeconds: 16 })).toEqual({});
    expect(clipProblems(20, clips, { ...model, routeSeconds: 15 })).toEqual({
      referenceVideos: 'last 15.001 s together; with the output of 20 s the model takes up to 30 s',
    });
  });
});
