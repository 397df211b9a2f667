import { describe, expect, test } from '@jest/globals';
import { PARAMETERS } from '../../../core/models/model-parameters.ts';
import type { ProviderPlan } from '../../../core/provider-calls/providers.ts';
import { limitsOf } from '../../../core/provider-calls/upstream-limits.ts';
import type { ImageRequest, StoredRequest, VideoRequest } from '../../../core/requests/request-rules.ts';
import { Fal } from '../../../providers/fal/fal.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { ModelStudio } from '../../../providers/modelstudio/modelstudio.ts';
import type { ImageFields, VideoFields } from '../../../providers/taken-fields.ts';
import { anImageRequest, aVideoRequest } from '../builders/entities.ts';

const at = (name: string) => `https://files.example.com/${name}`;

/** A value of each field by which it can be told in a plan, and the words of the makers for it. */
const MARKED_IMAGES: Record<keyof ImageFields, [value: Partial<ImageRequest>, mark: RegExp]> = {
  prompt: [{ prompt: 'a marked fox' }, /a marked fox/],
  size: [{ size: '2048x1024' }, /2048.*1024/],
  aspectRatio: [{ size: '2K', aspectRatio: 'portrait' }, /1440.*2560/],
  references: [{ references: [at('mark.png')] }, /mark\.png/],
  images: [{ images: 3 }, /^(?!.*max_)/],
  sequential: [{ sequential: true }, /"max_images":1/],
  seed: [{ seed: 4711 }, /"seed":4711/],
  negativePrompt: [{ negativePrompt: 'marked fog' }, /"negative_prompt":"marked fog"/],
  promptExtend: [{ promptExtend: false }, /"(prompt_extend|enable_prompt_expansion)":false/],
};
const MARKED_VIDEO: Record<keyof VideoFields, [value: Partial<VideoRequest>, mark: RegExp]> = {
  prompt: [{ prompt: 'marked waves' }, /marked waves/],
  resolution: [{ resolution: '720p' }, /720p/i],
  durationSec: [{ durationSec: 7 }, /"duration":7/],
  ratio: [{ ratio: '9:16' }, /9:16/],
  image: [{ image: at('first.png') }, /first\.png/],
  lastFrame: [{ image: at('first.png'), lastFrame: at('last.png') }, /last\.png/],
  referenceImages: [{ referenceImages: [at('mark.png')] }, /mark\.png/],
  referenceVideos: [{ referenceVideos: [at('mark.mp4')] }, /mark\.mp4/],
  referenceAudios: [{ referenceAudios: [at('mark.mp3')] }, /mark\.mp3/],
  seed: [{ seed: 4711 }, /"seed":4711/],
  negativePrompt: [{ negativePrompt: 'marked fog' }, /"negative_prompt":"marked fog"/],
  generateAudio: [{ generateAudio: false }, /"(generate_audio|audio)":false/],
  promptExtend: [{ promptExtend: false }, /"(prompt_extend|enable_prompt_expansion)":false/],
};

const connection = { baseUrl: 'https://provider.example', apiKey: 'key' };
const ADAPTERS = {
  modelark: new ModelArk(connection),
  modelstudio: new ModelStudio(connection),
  fal: new Fal(connection),
};
type Route = [provider: keyof typeof ADAPTERS, upstreamModel: string];

const IMAGE_ROUTES: Route[] = [
  ['modelark', 'seedream-4-5-251128'],
  ['modelstudio', 'qwen-image-3.0-pro'],
  ['modelstudio', 'z-image-turbo'],
  ['fal', 'fal-ai/bytedance/seedream/v4.5'],
  ['fal', 'bytedance/seedream/v5/pro'],
  ['fal', 'alibaba/qwen-image-3'],
  ['fal', 'fal-ai/z-image/turbo'],
];
const VIDEO_ROUTES: Route[] = [
  ['modelark', 'dreamina-seedance-2-0-260128'],
  ['modelstudio', 'wan2.7-i2v'],
  ['modelstudio', 'wan3.0-video'],
  ['fal', 'fal-ai/wan/v2.7'],
  ['fal', 'alibaba/wan-3.0'],
];

const planOf = ([provider, upstreamModel]: Route, request: StoredRequest): ProviderPlan =>
  ADAPTERS[provider].plan(request, upstreamModel, 'https://api.example.com/callbacks/x');

/** The bodies of a plan, with how many calls it has. */
const sentIn = ({ calls }: ProviderPlan): string =>
  JSON.stringify(calls.map(({ body, path }) => [path, body]));

const each = <Field extends string>(routes: Route[], fields: Record<Field, unknown>): [...Route, Field][] =>
  routes.flatMap((route) =>
    Object.keys(fields).map((field): [...Route, Field] => [...route, field as Field]),
  );

describe('a field of a creation', () => {
  const expectSent = (route: Route, plain: StoredRequest, marked: StoredRequest, mark: RegExp) => {
    const plan = planOf(route, marked);

    expect(plan.untaken).toBeUndefined();
    expect(sentIn(plan)).toMatch(mark);
    expect(sentIn(plan)).not.toBe(sentIn(planOf(route, plain)));
  };
  const expectRefused = (route: Route, marked: StoredRequest, name: string) =>
    expect(planOf(route, marked)).toEqual({ mode: expect.any(String), calls: [], untaken: name });

  test.each(each(IMAGE_ROUTES, MARKED_IMAGES))(
    'of images at %s, %s, is sent or refused: %s',
    (provider, model, field) => {
      const route: Route = [provider, model];
      const plain = anImageRequest({ size: '2K', aspectRatio: 'square' });
      const [value, mark] = MARKED_IMAGES[field];
      const marked = anImageRequest({ size: '2K', aspectRatio: 'square', ...value });

      if (ADAPTERS[provider].imageFields(model)[field] === 'sent') expectSent(route, plain, marked, mark);
      else expectRefused(route, marked, { images: 'n' }[field as string] ?? field);
    },
  );

  test.each(each(VIDEO_ROUTES, MARKED_VIDEO))(
    'of a video at %s, %s, is sent or refused: %s',
    (provider, model, field) => {
      const route: Route = [provider, model];
      const plain = aVideoRequest({ ratio: undefined });
      const [value, mark] = MARKED_VIDEO[field];
      const marked = aVideoRequest({ ratio: undefined, ...value });

      if (ADAPTERS[provider].videoFields(model)[field] === 'sent') expectSent(route, plain, marked, mark);
      else expectRefused(route, marked, field);
    },
  );

  test('that asks for nothing is never refused', () => {
    for (const route of IMAGE_ROUTES) expect(planOf(route, anImageRequest()).untaken).toBeUndefined();
    for (const route of VIDEO_ROUTES)
      expect(planOf(route, aVideoRequest({ ratio: undefined })).untaken).toBeUndefined();
  });

  test('is taken or not as the makers document', () => {
    const untaken = (fields: Readonly<Record<string, string>>) =>
      Object.keys(fields).filter((field) => fields[field] !== 'sent');
    const ofImages = IMAGE_ROUTES.map(([provider, model]) => [
      model,
      untaken(ADAPTERS[provider].imageFields(model)),
    ]);
    const ofVideo = VIDEO_ROUTES.map(([provider, model]) => [
      model,
      untaken(ADAPTERS[provider].videoFields(model)),
    ]);
    const references = ['referenceImages', 'referenceVideos', 'referenceAudios'];
    const parameters = ['seed', 'negativePrompt', 'promptExtend'];

    expect(Object.fromEntries([...ofImages, ...ofVideo])).toEqual({
      'seedream-4-5-251128': parameters,
      'qwen-image-3.0-pro': ['sequential'],
      'z-image-turbo': ['references', 'images', 'sequential', 'negativePrompt', 'promptExtend'],
      'fal-ai/bytedance/seedream/v4.5': ['negativePrompt', 'promptExtend'],
      'bytedance/seedream/v5/pro': ['sequential', ...parameters],
      'alibaba/qwen-image-3': ['sequential'],
      'fal-ai/z-image/turbo': ['references', 'sequential', 'negativePrompt', 'promptExtend'],
      'dreamina-seedance-2-0-260128': parameters,
      'wan2.7-i2v': ['ratio', ...references, 'generateAudio'],
      'wan3.0-video': ['negativePrompt'],
      'fal-ai/wan/v2.7': ['ratio', ...references, 'generateAudio'],
      'alibaba/wan-3.0': ['negativePrompt'],
    });
  });

  test.each([...IMAGE_ROUTES, ...VIDEO_ROUTES])(
    'that is a parameter is taken at %s, %s, by its limits as by its adapter',
    (provider, model) => {
      const adapter = ADAPTERS[provider];
      const isOfImages = IMAGE_ROUTES.some(([, other]) => other === model);
      const fields: Readonly<Record<string, string>> = isOfImages
        ? adapter.imageFields(model)
        : adapter.videoFields(model);
      const sent = PARAMETERS.filter((name) => fields[name] === 'sent');

      expect(limitsOf({ upstreamModel: model }).parameters?.toSorted() ?? []).toEqual(sent.toSorted());
    },
  );
});

describe('text that reads as parameters', () => {
  /** As ModelArk's documents have them: https://www.volcengine.com/docs/82379/1520757 */
  const FLAGS = '--rs 1080p --dur 12 --rt 9:16 --wm true --seed 3 --fps 24 --cf true';

  test.each<[...Route]>([...IMAGE_ROUTES, ...VIDEO_ROUTES])(
    'in a prompt to %s, %s, changes nothing but the prompt, and is no flag there',
    (provider, model) => {
      const isOfImages = IMAGE_ROUTES.some(([, other]) => other === model);
      const request = (prompt: string) =>
        isOfImages ? anImageRequest({ prompt }) : aVideoRequest({ prompt, ratio: undefined });
      const plain = sentIn(planOf([provider, model], request('PROMPT')));
      const flagged = sentIn(planOf([provider, model], request(`a fox ${FLAGS}`)));
      const [before = '', after = ''] = plain.split('PROMPT');

      expect(flagged.startsWith(before)).toBe(true);
      expect(flagged.endsWith(after)).toBe(true);
      const text = flagged.slice(before.length, flagged.length - after.length);
      // Only ModelArk documents flags, for videos.
      if (provider === 'modelark' && !isOfImages) expect(text).toBe(`a fox ${FLAGS.replaceAll('--', '–')}`);
      else expect(text).toBe(`a fox ${FLAGS}`);
    },
  );

  test('is no flag to ModelArk with more hyphens, or without a space', () => {
    const route: Route = ['modelark', 'dreamina-seedance-2-0-260128'];
    const prompt = 'a fox---rs 1080p\n--dur 12 ---- --dur=12';

    expect(sentIn(planOf(route, aVideoRequest({ prompt, ratio: undefined })))).not.toContain('--');
  });
});
