import { describe, expect, test } from '@jest/globals';
import { ImageModelData, VideoModelData } from '../../../../core/models/model-data.ts';
import { type ModelProblem, modelProblems } from '../../../../core/models/model-problems.ts';
import { OWN_IMAGES, OWN_VIDEOS } from '../../builders/own-models.ts';

const { routes: _, ...IMAGES } = OWN_IMAGES;
const { routes: __, ...VIDEOS } = OWN_VIDEOS;
const ofImages = (change: object) => modelProblems(ImageModelData.parse({ ...IMAGES, ...change }));
const ofVideos = (change: object) => modelProblems(VideoModelData.parse({ ...VIDEOS, ...change }));
const fieldsOf = (problems: ModelProblem[]) => problems.map(([path]) => path.join('.'));
const bounds = (change: object) => ({ explicitSize: { ...IMAGES.explicitSize, ...change } });
const durations = (min: number, usual: number, max: number) => ({
  durationSec: { min, default: usual, max },
});
const seed = (min: number, max: number) => ({ parameters: [{ name: 'seed', min, max }] });
const CLIPS = { inputModes: ['reference_videos'], maxReferenceImages: undefined, maxReferenceVideos: 1 };

describe('a model that makes images', () => {
  test.each<[object, string[]]>([
    [{}, []],
    [bounds({ minTotalPixels: 4_624_220 }), []],
    [bounds({ minTotalPixels: 4_624_221 }), ['explicitSize.minTotalPixels']],
    [bounds({ minAspectRatio: 16 }), []],
    [bounds({ minAspectRatio: 16.01 }), ['explicitSize.minAspectRatio']],
    [bounds({ minSide: 256 }), []],
    [bounds({ maxSide: 256 }), []],
    [bounds({ minSide: 256, maxSide: 256 }), []],
    [bounds({ minSide: 257, maxSide: 256 }), ['explicitSize.minSide']],
    [seed(7, 7), []],
    [seed(8, 7), ['parameters']],
    [{ parameters: [{ name: 'promptExtend' }] }, []],
    [{ defaultSize: '1K' }, ['defaultSize']],
    [{ rate: { perImage: [] } }, ['rate']],
  ])('with %j is wrong in %j', (change, wrong) => {
    expect(fieldsOf(ofImages(change))).toEqual(wrong);
  });
});

describe('a model that makes videos', () => {
  test.each<[object, string[]]>([
    [{}, []],
    [durations(4, 4, 4), []],
    [durations(4, 4, 12), []],
    [durations(4, 12, 12), []],
    [durations(4, 3, 12), ['durationSec.default']],
    [durations(4, 13, 12), ['durationSec.default']],
    [durations(5, 5, 4), ['durationSec.min', 'durationSec.default']],
    [{ ratios: undefined, defaultRatio: undefined }, []],
    [{ ratios: undefined }, ['defaultRatio']],
    [{ defaultRatio: undefined }, ['defaultRatio']],
    [{ inputModes: ['first_frame'], maxReferenceImages: undefined }, []],
    [{ inputModes: undefined, maxReferenceImages: undefined }, []],
    [{ inputModes: ['last_frame', 'reference_images'], requiresImage: true }, []],
    [{ inputModes: ['last_frame', 'reference_images'] }, ['inputModes']],
    [CLIPS, []],
    [{ ...CLIPS, referenceVideoMaxSeconds: 15, maxCombinedSeconds: 30 }, []],
    [{ referenceVideoMaxSeconds: 15 }, ['referenceVideoMaxSeconds']],
    [{ maxCombinedSeconds: 30 }, ['maxCombinedSeconds']],
  ])('with %j is wrong in %j', (change, wrong) => {
    expect(fieldsOf(ofVideos(change))).toEqual(wrong);
  });

  test.each([
    ['maxReferenceImages', 'reference_images'],
    ['maxReferenceVideos', 'reference_videos'],
    ['maxReferenceAudios', 'reference_audios'],
  ])('has %s with the input mode %s, and not without it', (limit, mode) => {
    const none = { inputModes: undefined, maxReferenceImages: undefined };

    expect(ofVideos({ ...none, inputModes: [mode], [limit]: 1 })).toEqual([]);
    expect(ofVideos({ ...none, inputModes: [mode] })).toEqual([
      [[limit], `Expected with the input mode ${mode}`],
    ]);
    expect(ofVideos({ ...none, [limit]: 1 })).toEqual([[[limit], `Only with the input mode ${mode}`]]);
  });
});
