import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CATALOG, findVideoModel } from '../../../core/models/catalog.ts';
import { videoDimensions, videoShapeOf } from '../../../core/models/video-shapes.ts';

const VIDEO_MODELS = CATALOG.filter((model) => model.type === 'video');
const modelOf = (id: string) => {
  const model = findVideoModel(id);
  if (!model) throw new Error(`There is no ${id}.`);
  return model;
};

describe('the dimensions of a video', () => {
  test.each<[string, string | undefined, string | undefined]>([
    ['720p', '16:9', '1280x720'],
    ['720p', '9:16', '720x1280'],
    ['1080p', '1:1', '1080x1080'],
    ['480p', '16:9', '854x480'],
    ['2k', '4:3', '1920x1440'],
    ['4K', '16:9', '3840x2160'],
    ['720p', 'adaptive', undefined],
    ['720p', undefined, undefined],
    ['HD', '16:9', undefined],
    ['720p', '0:1', undefined],
    ['720p', '1:0', undefined],
    ['720p', '0:0', undefined],
  ])('of %s and %s are %s', (resolution, ratio, size) => {
    const made = videoDimensions(resolution, ratio);
    expect(made && `${made.width}x${made.height}`).toBe(size);
  });
});

describe('a size', () => {
  test('of any shape that a model makes stands for that shape', () => {
    const shapes = VIDEO_MODELS.flatMap((model) =>
      model.resolutions.flatMap((resolution) =>
        (model.ratios ?? []).map((ratio) => ({ model, resolution, ratio })),
      ),
    );
    const fixed = shapes.filter(({ resolution, ratio }) => videoDimensions(resolution, ratio));
    fc.assert(
      fc.property(fc.constantFrom(...fixed), ({ model, resolution, ratio }) => {
        const made = videoDimensions(resolution, ratio);
        expect(videoShapeOf(model, `${made?.width}x${made?.height}`)).toEqual({ resolution, ratio });
      }),
    );
  });

  test.each(['1280x720', '720x1280', '720x720', '960x720', '720x960'])(
    'picks only the resolution of a model whose first frame decides the ratio: %s',
    (size) => {
      expect(videoShapeOf(modelOf('xW2.7S'), size)).toEqual({ resolution: '720p' });
    },
  );

  test.each(['1280x721', '1281x720', '1024x1792', '1280X720', '720p', '', '1280x720 ', '0x0', '99999999x1'])(
    'of %j is refused with the sizes that are made',
    (size) => {
      expect(videoShapeOf(modelOf('xW3.0s'), size)).toEqual({
        problem: expect.stringContaining('1280x720, '),
      });
    },
  );
});
