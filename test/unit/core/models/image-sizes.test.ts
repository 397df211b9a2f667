import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findImageModel, type ImageModel } from '../../../../core/models/catalog.ts';
import {
  dimensionsOf,
  exampleSize,
  parseExplicitSize,
  pricedPixels,
  sizeProblem,
} from '../../../../core/models/image-sizes.ts';

const model = (id: string): ImageModel => {
  const found = findImageModel(id);
  if (!found) throw new Error(`There is no image model ${id}.`);
  return found;
};

describe('the size of an image', () => {
  // One model for each bound; the catalog's own test has the figures of all.
  test.each([
    ['xSD4.5', '1920x1920', 'the fewest pixels'],
    ['xSD4.5', '4096x4096', 'the most pixels'],
    ['xSD4.5', '7680x480', 'the widest shape, with the fewest pixels'],
    ['xSD4.5', '480x7680', 'the tallest shape, with the fewest pixels'],
    ['xZI1.0Pro', '256x256', 'the fewest pixels and the shortest sides'],
    ['xZI1.0Pro', '2560x2560', 'the most pixels and the longest sides'],
    ['xZI1.0Pro', '2560x256', 'the widest shape'],
    ['xZI1.0Pro', '256x2560', 'the tallest shape'],
  ])('is accepted by %s as %s: %s', (id, size) => {
    expect(sizeProblem(model(id), size)).toBeUndefined();
  });

  test.each([
    ['xSD4.5', '1919x1921', /pixels/],
    ['xSD4.5', '4096x4097', /pixels/],
    ['xSD4.5', '7681x480', /aspect ratio/],
    ['xSD4.5', '480x7681', /aspect ratio/],
    ['xZI1.0Pro', '255x258', /side below 256/],
    ['xZI1.0Pro', '258x255', /side below 256/],
    ['xZI1.0Pro', '2561x2559', /side above 2,560/],
    ['xZI1.0Pro', '2559x2561', /side above 2,560/],
  ])('is refused by %s as %s, just outside: %p', (id, size, problem) => {
    expect(sizeProblem(model(id), size)).toMatch(problem);
  });

  test.each([
    ['xSD4.5', '10x10', '10x10 is too small: xSD4.5 needs at least 3,686,400 pixels (e.g. 2048x2048)'],
    [
      'xZI1.0Pro',
      '4000x4000',
      '4000x4000 is too large: xZI1.0Pro takes at most 6,553,600 pixels (e.g. 1024x1024)',
    ],
    ['xSD4.5', '480x7681', 'has an aspect ratio outside 1:16 to 16:1 (e.g. 2048x2048)'],
  ])('says what would do instead of %s %s', (id, size, problem) => {
    expect(sizeProblem(model(id), size)).toBe(problem);
  });

  test('names a size that its model accepts', () => {
    const refused = ['1x1', '9999x9999', '16384x256', '256x16384', '200x400', '3000x400'];
    for (const id of ['xSD4.5', 'xSD5Pro', 'xQI3Pro', 'xZI1.0Pro']) {
      const problems = refused.flatMap((size) => sizeProblem(model(id), size) ?? []);
      expect(problems.length).toBeGreaterThan(3);
      for (const problem of problems) {
        const [, example = ''] = /\(e\.g\. (.*)\)$/.exec(problem) ?? [];
        expect(sizeProblem(model(id), example)).toBeUndefined();
      }
    }
  });

  test('is named by the first preset that is taken, if there is one', () => {
    const example = (takes: (pixels: number) => boolean) => exampleSize(model('xSD5Pro'), takes);

    expect(example(() => true)).toBe('(e.g. 2048x2048)');
    expect(example((pixels) => pixels < 2048 ** 2)).toBe('(e.g. 1024x1024)');
    expect(example(() => false)).toBe('');
  });

  test('is accepted exactly when pixels, ratio and sides are all within bounds', () => {
    const side = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 200, max: 4200 }));
    const anyModel = fc.constantFrom('xSD4.5', 'xSD5Pro', 'xQI3Pro', 'xZI1.0Pro').map(model);
    fc.assert(
      fc.property(anyModel, side, side, (imageModel, width, height) => {
        const { minTotalPixels, maxTotalPixels, minAspectRatio, maxAspectRatio, minSide, maxSide } =
          imageModel.explicitSize;
        const within =
          width * height >= minTotalPixels &&
          width * height <= maxTotalPixels &&
          width >= height * minAspectRatio &&
          width <= height * maxAspectRatio &&
          Math.min(width, height) >= (minSide ?? 0) &&
          Math.max(width, height) <= (maxSide ?? 100_000);

        expect(sizeProblem(imageModel, `${width}x${height}`) === undefined).toBe(within);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['xSD4.5', ['2K', '4K']],
    ['xSD5Pro', ['1K', '1.5K', '2K']],
    ['xQI3Pro', ['1K', '1.5K', '2K']],
    ['xZI1.0Pro', ['1K', '2K']],
  ])('may be, by name, exactly a preset of %s: %p', (id, presets) => {
    const accepted = ['0.5K', '1K', '1.5K', '2K', '3K', '4K', '8K'].filter(
      (size) => sizeProblem(model(id), size) === undefined,
    );

    expect(accepted).toEqual(presets);
  });

  test.each([
    ['1x1', 1, 1],
    ['9x100000', 9, 100_000],
    ['999999x999999', 999_999, 999_999],
  ])('is read from %s', (size, width, height) => {
    expect(parseExplicitSize(size)).toEqual({ width, height });
  });

  test.each([
    '1000000x1',
    '1x1000000',
    '',
    '2k',
    ' 2K',
    'x',
    '2048',
    '2048x',
    'x2048',
    '2048*2048',
    '2048X2048',
    '2048×2048',
    '2048x2048x2048',
    ' 2048x2048',
    '2048 x 2048',
    '2048x2048\n',
    '2048.0x2048',
    '02048x2048',
    '+2048x2048',
    '-2048x-2048',
    '0x0',
    '2e3x2e3',
    '1000000x1000000',
    '٢٠٤٨x٢٠٤٨',
    'constructor',
  ])('is refused when its text is %p', (size) => {
    expect(parseExplicitSize(size)).toBeUndefined();
    expect(sizeProblem(model('xSD4.5'), size)).toMatch(
      /^must be one of 2K, 4K or <width>x<height> in whole pixels$/,
    );
  });
});

describe('the pixels of a size', () => {
  test.each<[string, number, [number, number], [number, number]]>([
    ['1K', 1024, [1280, 720], [720, 1280]],
    ['1.5K', 1536, [1920, 1080], [1080, 1920]],
    ['2K', 2048, [2560, 1440], [1440, 2560]],
    ['4K', 4096, [5120, 2880], [2880, 5120]],
  ])('of %s follow from its side %p and the aspect ratio', (preset, side, landscape, portrait) => {
    const shape = (aspectRatio: string) => {
      const { width, height } = dimensionsOf(preset, aspectRatio);
      return [width, height];
    };

    expect(shape('square')).toEqual([side, side]);
    expect(shape('auto')).toEqual([side, side]);
    expect(shape('landscape')).toEqual(landscape);
    expect(shape('portrait')).toEqual(portrait);
  });

  test('of an explicit size are what it says', () => {
    expect(dimensionsOf('1600x900', 'auto')).toEqual({ width: 1600, height: 900 });
  });

  test.each([
    ['1K', 1_048_576],
    ['1.5K', 2_359_296],
    ['2K', 4_194_304],
    ['4K', 16_777_216],
    ['1600x900', 1_440_000],
  ])('%s is priced by %p pixels', (size, pixels) => {
    expect(pricedPixels(size)).toBe(pixels);
  });

  test('are unknown for any other text', () => {
    expect(() => pricedPixels('3K')).toThrow('the size 3K in');
    expect(() => dimensionsOf('3K', 'auto')).toThrow('the size 3K in auto');
    expect(() => dimensionsOf('2K', 'cinema')).toThrow('the size 2K in cinema');
  });
});
