import { describe, expect, test } from '@jest/globals';
import type { Node } from 'constructs';
import { readContext } from '../../../lib/context.ts';
import { projectContext } from '../../infra/service-template.ts';
import { OWN_IMAGES, OWN_VIDEOS } from '../builders/own-models.ts';

const read = (models: unknown, others: Record<string, unknown> = {}) => {
  const given: Record<string, unknown> = { ...projectContext(), models, ...others };
  return readContext({
    tryGetContext: (key: string) => given[key] ?? null,
    getAllContext: () => given,
  } as Node);
};

/** A copy of a model in which the value at a dotted path is another one; undefined takes it away. */
const changed = (model: object, path: string, value: unknown): Record<string, unknown> => {
  const copy = structuredClone(model) as Record<string, unknown>;
  const names = path.split('.');
  const last = names.pop() as string;
  const parent = names.reduce((object, name) => object[name] as Record<string, unknown>, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
};

describe("an operator's own models", () => {
  test('are read from JSON or text, and their routes stand beside those of the project', () => {
    const context = read([OWN_IMAGES, OWN_VIDEOS]);

    expect(read(JSON.stringify([OWN_IMAGES, OWN_VIDEOS]))).toStrictEqual(context);
    expect(context.models.map(({ id }) => id)).toEqual([OWN_IMAGES.id, OWN_VIDEOS.id]);
    expect(context.modelRoutes).toMatchObject({
      xQI3Pro: [{ provider: 'modelstudio' }],
      [OWN_IMAGES.id]: [OWN_IMAGES.routes],
      [OWN_VIDEOS.id]: OWN_VIDEOS.routes,
    });
    expect(read(undefined).models).toEqual([]);
  });

  test('may be the model of the canary, if they make images', () => {
    expect(read([OWN_IMAGES], { canary: OWN_IMAGES.id }).canary).toBe(OWN_IMAGES.id);
    expect(() => read([OWN_VIDEOS], { canary: OWN_VIDEOS.id })).toThrow(/image model.* → at canary/);
  });

  test.each<[field: string, value: unknown, message: RegExp]>([
    ['id', 'xQI3Pro', /xQI3Pro: The catalog has a model of this id/],
    ['id', undefined, /expected string, received undefined/i],
    ['id', 'a#b', /letters, digits, dots, hyphens/],
    ['id', '__proto__', /a letter or digit first/],
    ['type', 'sound', /Invalid (input|discriminator)/i],
    ['sizePresets', [], />=1|at least 1/],
    ['sizePresets', ['3K'], /1K/],
    ['sizePresets', ['2K', '2K'], /different values/],
    ['defaultSize', '4K', /Expected one of sizePresets/],
    ['explicitSize.minTotalPixels', 5_000_000, /at most maxTotalPixels/],
    ['explicitSize.minAspectRatio', 20, /at most maxAspectRatio/],
    ['explicitSize.maxSide', 1.5, /int/],
    ['explicitSize.leastSide', 1, /leastSide/],
    ['maxReferences', -1, />=0/],
    ['maxReferences', '3', /number/],
    ['maxImagesPerRequest', 0, />=1/],
    ['maxImagesPerRequest', 16, /<=15/],
    ['capabilities', undefined, /object/],
    ['routes', [], />=1/],
    [
      'routes',
      { provider: 'midjourney', upstreamModel: 'v9' },
      /no provider "midjourney": modelark, modelstudio, fal/,
    ],
    ['routes', { provider: 'modelark@eu', upstreamModel: 'seedream-9' }, /modelark@eu/],
    ['routes', { provider: 'modelark' }, /string/],
    ['routes', { ...OWN_IMAGES.routes, maxRuning: 3 }, /maxRuning/],
    ['rate', undefined, /object/],
    ['rate', 7, /object/],
    ['rate', { perSecond: { '720p': 1 } }, /perImage/],
    ['rate', { perImage: [] }, /last tier/],
    ['rate', { perImage: [{ maxPixels: null, xTokens: 0 }] }, /0 is no price/],
    ['rate', { perImage: [{ maxPixels: null, xTokens: -1 }] }, /-1 is no price/],
    ['rate', { perImage: [{ maxPixels: null, xTokens: 0.0001 }] }, /3 decimals/],
    ['rate', { perImage: [{ maxPixels: null, xTokens: 'seven' }] }, /number/],
    ['aspectRatios', ['square'], /aspectRatios/],
  ])('are refused by name: of images with %s %j', (field, value, message) => {
    const problem = () => read([changed(OWN_IMAGES, field, value)]);

    expect(problem).toThrow(message);
    expect(problem).toThrow(/models|modelRoutes/);
    expect(problem).toThrow(new RegExp(field.split('.')[0] as string));
  });

  test.each<[field: string, value: unknown, message: RegExp]>([
    ['resolutions', ['480p', '720p', '2k'], /dreamina-seedance-2-0-260128 makes no videos of 2k/],
    ['defaultResolution', '1080p', /Expected one of resolutions/],
    ['durationSec.min', 3, /takes 4 or more/],
    ['durationSec.max', 16, /takes up to 15/],
    ['durationSec.min', 13, /at most max/],
    ['durationSec.default', 13, /from min to max/],
    ['durationSec.default', undefined, /number/],
    ['requiresImage', 'no', /boolean/],
    ['inputModes', ['first_frame', 'middle_frame'], /first_frame/],
    ['inputModes', ['last_frame', 'reference_images'], /first_frame beside last_frame/],
    ['maxReferenceImages', undefined, /with the input mode reference_images/],
    ['maxReferenceVideos', 2, /Only with the input mode reference_videos/],
    ['referenceVideoMaxSeconds', 15, /Only with the input mode reference_videos/],
    ['defaultRatio', '4:3', /one of ratios/],
    ['defaultRatio', undefined, /beside ratios/],
    ['rate', { perSecond: { '480p': 2 } }, /lacks 720p/],
    ['rate', { perSecond: { '480p': 2, '720p': 4, '4k': 9 } }, /unknown resolutions: 4k/],
    ['rate', { perImage: [{ maxPixels: null, xTokens: 1 }] }, /perSecond/],
    ['maxReferences', 2, /maxReferences/],
  ])('are refused by name: of videos with %s %j', (field, value, message) => {
    const problem = () => read([changed(OWN_VIDEOS, field, value)]);

    expect(problem).toThrow(message);
    expect(problem).toThrow(/models/);
    expect(problem).toThrow(new RegExp(field.split('.').at(-1) as string));
  });

  test.each([
    ['the smallest size', { limits: { minPixels: 2_000_000 } }, /models\[0\]\.explicitSize\.minTotalPixels/],
    ['the largest size', { limits: { maxPixels: 4_194_304 } }, /models\[0\]\.explicitSize\.maxTotalPixels/],
    ['references', { limits: { references: 2 } }, /models\[0\]\.maxReferences/],
    ['images', { limits: { images: 3 } }, /models\[0\]\.maxImagesPerRequest/],
    ['a preset', { limits: { maxPixels: 1_048_576 } }, /models\[0\]\.sizePresets/],
  ])('are refused where no route takes %s, and accepted where another route does', (_what, limited, at) => {
    const narrow = { ...OWN_IMAGES.routes, ...limited };
    const wide = { provider: 'fal', upstreamModel: 'some/model' };

    expect(() => read([{ ...OWN_IMAGES, routes: [narrow] }])).toThrow(at);
    expect(read([{ ...OWN_IMAGES, routes: [narrow, wide] }]).models).toHaveLength(1);
  });

  test('are refused where two have one id, or modelRoutes names them', () => {
    expect(() => read([OWN_IMAGES, { ...OWN_VIDEOS, id: OWN_IMAGES.id }])).toThrow(
      /Another of these models has this id → at models\[1\]\.id/,
    );
    expect(() =>
      read([OWN_IMAGES], { modelRoutes: { [OWN_IMAGES.id]: { provider: 'fal', upstreamModel: 'x' } } }),
    ).toThrow(/modelRoutes has routes of acme-pictures-2, too → at models\[0\]\.routes/);
  });

  test("are refused where all routes have no room in a function's variables", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...OWN_IMAGES, id: `acme-pictures-${index}` }));

    expect(read(many(9)).models).toHaveLength(9);
    expect(() => read(many(20))).toThrow(
      /All routes together have \d+ characters as JSON, and room for 1700/,
    );
  });
});
