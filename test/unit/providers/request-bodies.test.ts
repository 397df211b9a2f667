import { afterEach, describe, expect, test } from '@jest/globals';
import type { ProviderPlan } from '../../../core/provider-calls/providers.ts';
import type { ImageRequest, VideoRequest } from '../../../core/requests/request-rules.ts';
import { planArkImages } from '../../../providers/modelark/images.ts';
import { planArkVideo } from '../../../providers/modelark/videos.ts';
import { planModelStudioImages } from '../../../providers/modelstudio/images.ts';
import { planModelStudioVideo } from '../../../providers/modelstudio/videos.ts';
import { references, urlsOf } from '../builders/bodies.ts';
import { anImageRequest, aVideoRequest } from '../builders/entities.ts';

/** The plan of one call. */
const oneCall = (mode: ProviderPlan['mode'], path: string, body: object, headers = {}) => ({
  mode,
  calls: [{ path, headers, body }],
});
const TASK = { 'x-dashscope-async': 'enable' };

describe('the visible mark of generated media', () => {
  afterEach(() => {
    delete process.env.AI_MARKING;
  });

  /** Whether each maker that knows a visible mark is asked for it, by kind. */
  const asked = () =>
    [
      planArkImages(anImageRequest(), 'seedream-4-5'),
      planArkVideo(aVideoRequest(), 'seedance-2-0', 'https://callback.example'),
      planModelStudioImages(anImageRequest(), 'qwen-image-3-pro'),
      planModelStudioVideo(aVideoRequest(), 'wan2.7-t2v'),
    ].flatMap(({ calls }) => calls.map(({ body }) => Object(body.parameters ?? body).watermark));

  test('is asked for, or against, by the setting of the operator', () => {
    expect(asked()).toEqual([false, false, false, false]);
    process.env.AI_MARKING = 'visible';
    expect(asked()).toEqual([true, true, true, true]);
  });
});

describe('a call to ModelArk', () => {
  const plan = (request: Partial<ImageRequest>) => planArkImages(anImageRequest(request), 'seedream-4-5');

  test('requests one image by URL, without a watermark', () => {
    expect(plan({ prompt: 'a lighthouse', size: '2K' })).toStrictEqual(
      oneCall('synchronous', '/images/generations', {
        ...{ model: 'seedream-4-5', prompt: 'a lighthouse', size: '2K' },
        ...{ response_format: 'url', watermark: false },
      }),
    );
  });

  test('is made once per image, as the API takes no count', () => {
    const { calls } = plan({ images: 4 });

    expect(calls).toHaveLength(4);
    expect(new Set(calls.map((call) => JSON.stringify(call))).size).toBe(1);
    expect(calls[0]?.body).not.toHaveProperty('n');
  });

  test.each([1, 2, 10])('carries its %p references', (count) => {
    expect(plan({ references: references(count) }).calls[0]?.body.image).toEqual(references(count));
  });

  test('for a sequence is one, with the most images it may yield', () => {
    const { calls } = plan({ sequential: true, images: 7 });

    expect(calls).toHaveLength(1);
    expect(calls[0]?.body).toMatchObject({
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: 7 },
    });
  });

  test.each<[string, ImageRequest['aspectRatio'], string]>([
    ['2K', 'auto', '2K'],
    ['1.5K', 'auto', '1.5K'],
    ['4K', 'auto', '4K'],
    ['2K', 'square', '2048x2048'],
    ['2K', 'landscape', '2560x1440'],
    ['1K', 'portrait', '720x1280'],
    ['1600x900', 'auto', '1600x900'],
  ])(
    'of size %s and ratio %s sends %s: a preset leaves the ratio to the provider',
    (size, aspectRatio, text) => {
      expect(plan({ size, aspectRatio }).calls[0]?.body.size).toBe(text);
    },
  );
});

describe('a call to Model Studio', () => {
  const plan = (upstreamModel: string, request: Partial<ImageRequest> = {}) =>
    planModelStudioImages(anImageRequest(request), upstreamModel);

  test('for Qwen-Image creates one task for all images, without a watermark', () => {
    const request = { prompt: 'a lighthouse', size: '1.5K', images: 6, references: references(2) };

    const content = [...references(2).map((image) => ({ image })), { text: 'a lighthouse' }];
    const body = {
      model: 'qwen-image-3.0-pro',
      input: { messages: [{ role: 'user', content }] },
      parameters: { size: '1536*1536', n: 6, watermark: false },
    };
    const path = '/api/v1/services/aigc/image-generation/generation';

    expect(plan('qwen-image-3.0-pro', request)).toStrictEqual(oneCall('asynchronous', path, body, TASK));
  });

  test('for Z-Image is synchronous: no task header, no count', () => {
    const body = {
      model: 'z-image-turbo',
      input: { messages: [{ role: 'user', content: [{ text: 'a lighthouse' }] }] },
      parameters: { size: '1024*1024' },
    };
    const path = '/api/v1/services/aigc/multimodal-generation/generation';

    expect(plan('z-image-turbo', { prompt: 'a lighthouse' })).toStrictEqual(
      oneCall('synchronous', path, body),
    );
  });

  test.each<[string, ImageRequest['aspectRatio'], string]>([
    ['1K', 'auto', '1024*1024'],
    ['2K', 'square', '2048*2048'],
    ['1.5K', 'landscape', '1920*1080'],
    ['2K', 'portrait', '1440*2560'],
    ['1600x900', 'auto', '1600*900'],
  ])('of size %s and ratio %s always sends %s', (size, aspectRatio, text) => {
    expect(plan('qwen-image', { size, aspectRatio }).calls[0]?.body.parameters).toMatchObject({ size: text });
  });
});

const FRAMES = {
  image: 'https://media.example.com/first.png',
  lastFrame: 'https://media.example.com/last.png',
};
const REFERENCES = {
  referenceImages: urlsOf('png', 2),
  referenceVideos: urlsOf('mp4', 2),
  referenceAudios: urlsOf('mp3', 2),
};

describe('a call to ModelArk for a video', () => {
  const CALLBACK_URL = 'https://api.example.com/callbacks/modelark/vid_1/token';
  const plan = (request: Partial<VideoRequest> = {}) =>
    planArkVideo(aVideoRequest(request), 'seedance-2-5', CALLBACK_URL);
  const contentOf = (request: Partial<VideoRequest>) => plan(request).calls[0]?.body.content;
  const text = { type: 'text', text: 'waves' };

  test('is one task with a callback URL, without a watermark', () => {
    const body = {
      ...{ model: 'seedance-2-5', content: [text], resolution: '720p', duration: 12, ratio: '16:9' },
      ...{ watermark: false, callback_url: CALLBACK_URL },
    };

    expect(plan({ resolution: '720p', durationSec: 12, ratio: '16:9' })).toStrictEqual(
      oneCall('asynchronous', '/contents/generations/tasks', body),
    );
  });

  test('sends no ratio when the model has none', () => {
    expect(plan({ ratio: undefined }).calls[0]?.body).not.toHaveProperty('ratio');
  });

  test('gives each frame its role', () => {
    expect(contentOf(FRAMES)).toStrictEqual([
      text,
      { type: 'image_url', image_url: { url: FRAMES.image }, role: 'first_frame' },
      { type: 'image_url', image_url: { url: FRAMES.lastFrame }, role: 'last_frame' },
    ]);
  });

  test('gives each reference its role, in the order of the request', () => {
    const of = (kind: string, urls: string[]) =>
      urls.map((url) => ({ type: `${kind}_url`, [`${kind}_url`]: { url }, role: `reference_${kind}` }));

    expect(contentOf(REFERENCES)).toStrictEqual([
      text,
      ...of('image', REFERENCES.referenceImages),
      ...of('video', REFERENCES.referenceVideos),
      ...of('audio', REFERENCES.referenceAudios),
    ]);
  });

  test('contains neither the end-user nor the webhook URL', () => {
    const body = JSON.stringify(plan({ webhookUrl: 'https://caller.example/hook' }));

    expect(body).not.toMatch(/caller\.example|ada@example|acc_/);
  });
});

describe('a call to Model Studio for a video', () => {
  const plan = (request: Partial<VideoRequest> = {}) =>
    planModelStudioVideo(aVideoRequest(request), 'wan3.0-video');
  const inputOf = (request: Partial<VideoRequest>) => plan(request).calls[0]?.body.input;

  test('is one task, without a watermark', () => {
    const body = {
      model: 'wan3.0-video',
      input: { prompt: 'waves' },
      parameters: { resolution: '720P', duration: 12, ratio: '16:9', watermark: false },
    };
    const path = '/api/v1/services/aigc/video-generation/video-synthesis';

    expect(plan({ resolution: '720p', durationSec: 12, ratio: '16:9' })).toStrictEqual(
      oneCall('asynchronous', path, body, TASK),
    );
  });

  test.each([
    ['480p', '480P'],
    ['1080p', '1080P'],
  ])('sends the resolution %s as %s', (resolution, label) => {
    expect(plan({ resolution }).calls[0]?.body.parameters).toMatchObject({ resolution: label });
  });

  test('sends no ratio when the model has none', () => {
    expect(plan({ ratio: undefined }).calls[0]?.body.parameters).not.toHaveProperty('ratio');
  });

  test('gives each frame its type', () => {
    expect(inputOf(FRAMES)).toStrictEqual({
      prompt: 'waves',
      media: [
        { type: 'first_frame', url: FRAMES.image },
        { type: 'last_frame', url: FRAMES.lastFrame },
      ],
    });
  });

  test('gives each reference its type, in the order of the request', () => {
    const of = (kind: string, urls: string[]) => urls.map((url) => ({ type: `reference_${kind}`, url }));

    expect(inputOf(REFERENCES)).toStrictEqual({
      prompt: 'waves',
      media: [
        ...of('image', REFERENCES.referenceImages),
        ...of('video', REFERENCES.referenceVideos),
        ...of('audio', REFERENCES.referenceAudios),
      ],
    });
  });
});
