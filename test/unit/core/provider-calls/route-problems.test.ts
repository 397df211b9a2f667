import { describe, expect, test } from '@jest/globals';
import type { ModelData } from '../../../../core/models/model-data.ts';
import { routeProblems } from '../../../../core/provider-calls/route-problems.ts';
import type { UpstreamLimits } from '../../../../core/provider-calls/upstream-limits.ts';
import { OWN_IMAGES, OWN_VIDEOS } from '../../builders/own-models.ts';

/** The problems of a model whose routes have these limits, by field. */
const problemsOf = (model: object, ...limits: UpstreamLimits[]): Record<string, string> => {
  const routes = limits.map((each, index) => ({ upstreamModel: `up-${index + 1}`, limits: each }));
  const problems = routeProblems(model as ModelData, routes);
  return Object.fromEntries(problems.map(([path, message]) => [path.join('.'), message]));
};
const SEQUENTIAL = { ...OWN_IMAGES, capabilities: { sequential: true } };
const CLIPS = { ...OWN_VIDEOS, referenceVideoMaxSeconds: 15 };

describe('a model is served by its route up to the limit of each', () => {
  test.each<[field: string, model: object, kept: UpstreamLimits, broken: UpstreamLimits, message: string]>([
    [
      'explicitSize.minTotalPixels',
      OWN_IMAGES,
      { minPixels: 1_000_000 },
      { minPixels: 1_000_001 },
      'takes 1,000,001 or more',
    ],
    [
      'explicitSize.maxTotalPixels',
      OWN_IMAGES,
      { maxPixels: 4_624_220 },
      { maxPixels: 4_624_219 },
      'takes up to 4,624,219',
    ],
    ['maxReferences', OWN_IMAGES, { references: 3 }, { references: 2 }, 'takes up to 2'],
    ['maxImagesPerRequest', OWN_IMAGES, { images: 4, groupImages: 1 }, { images: 3 }, 'takes up to 3'],
    ['maxImagesPerRequest', SEQUENTIAL, { images: 1, groupImages: 4 }, { groupImages: 3 }, 'takes up to 3'],
    ['maxImagesPerRequest', SEQUENTIAL, { images: 4 }, { images: 3 }, 'takes up to 3'],
    ['durationSec.min', OWN_VIDEOS, { minSeconds: 4 }, { minSeconds: 5 }, 'takes 5 or more'],
    ['durationSec.max', OWN_VIDEOS, { maxSeconds: 12 }, { maxSeconds: 11 }, 'takes up to 11'],
    ['maxReferenceImages', OWN_VIDEOS, { references: 9 }, { references: 8 }, 'takes up to 8'],
    [
      'referenceVideoMaxSeconds',
      CLIPS,
      { referenceVideosSeconds: 15 },
      { referenceVideosSeconds: 14 },
      'takes up to 14',
    ],
    ['ratios', OWN_VIDEOS, { ratios: ['16:9', 'adaptive'] }, { ratios: ['16:9'] }, 'makes no adaptive'],
    [
      'resolutions',
      OWN_VIDEOS,
      { resolutions: ['480p', '720p'] },
      { resolutions: ['480p'] },
      'makes no videos of 720p',
    ],
  ])('%s', (field, model, kept, broken, message) => {
    expect(problemsOf(model, kept)).toEqual({});
    expect(problemsOf(model, broken)).toEqual({ [field]: `up-1 ${message}` });
    // One route within the limit, or without one, is enough.
    expect(problemsOf(model, broken, kept)).toEqual({});
    expect(problemsOf(model, broken, {})).toEqual({});
    expect(problemsOf(model, broken, broken)).toEqual({ [field]: `up-1 or up-2 ${message}` });
  });

  test('parameters, which a route without a list takes none of', () => {
    const parameters = [{ name: 'promptExtend' }, { name: 'seed', min: 0, max: 9 }];
    const model = { ...OWN_IMAGES, parameters };

    expect(problemsOf(model, { parameters: ['seed'] }, { parameters: ['promptExtend'] })).toEqual({});
    expect(problemsOf(model, { parameters: ['seed'] }, {})).toEqual({
      parameters: 'up-1 or up-2 takes no promptExtend, by its limits',
    });
    expect(problemsOf(model, {})).toEqual({
      parameters: 'up-1 takes no promptExtend, seed, by its limits',
    });
  });
});

test('sizes that no route makes are named beside other problems, and lengths once', () => {
  expect(problemsOf(OWN_IMAGES, { maxPixels: 1_048_576, references: 1 })).toEqual({
    sizePresets: 'up-1 makes no images of 2K',
    'explicitSize.maxTotalPixels': 'up-1 takes up to 1,048,576',
    maxReferences: 'up-1 takes up to 1',
  });
  expect(problemsOf(OWN_VIDEOS, { minSeconds: 5, maxSeconds: 11 })).toEqual({
    'durationSec.min': 'up-1 takes 5 or more',
    'durationSec.max': 'up-1 takes up to 11',
  });
});
