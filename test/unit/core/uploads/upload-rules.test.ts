import { expect, test } from '@jest/globals';
import { type CatalogModel, findModel } from '../../../../core/models/catalog.ts';
import type { InputLimits } from '../../../../core/provider-calls/input-limits.ts';
import { inputsOf } from '../../../../core/uploads/upload-rules.ts';

const model = (id: string) => findModel(id) as CatalogModel;
const MIB = 1024 * 1024;
const routes = (...inputs: InputLimits[]) =>
  inputs.map((each) => ({ upstreamModel: 'one', limits: { inputs: each } }));

test('The limits of several routes are the loosest of each kind: a file beyond them is taken by none', () => {
  const strict = {
    image: {
      types: ['image/png'],
      maxBytes: 5 * MIB,
      minSide: 300,
      maxSide: 6_000,
      maxRatio: 2.5,
      alpha: false,
    },
  };
  const loose = {
    image: { types: ['image/jpeg'], maxBytes: 20 * MIB, minSide: 240, maxSide: 4_000, maxRatio: 8 },
  };

  expect(inputsOf(model('xW2.7S'), routes(strict, loose))).toEqual({
    image: {
      ...{ types: ['image/png', 'image/jpeg'], maxBytes: 20 * MIB },
      ...{ minSide: 240, maxSide: 6_000, maxRatio: 8 },
    },
  });
});

test('A route without a limit takes the limit away, but for what an upload can have', () => {
  const { image } = inputsOf(model('xW2.7S'), routes({ image: { minSide: 240, maxBytes: MIB } }, {}));

  expect(image?.types).toContain('image/heic');
  expect(image).toEqual({ types: image?.types, maxBytes: 30 * MIB });
});

test('A limit above that of uploads is that of uploads, by the largest type', () => {
  const { image } = inputsOf(model('xW2.7S'), routes({ image: { maxBytes: 50 * MIB } }));

  expect(image?.maxBytes).toBe(30 * MIB);
});

test('Only media that the model takes have limits', () => {
  const all = routes({ image: {}, video: {}, audio: {} });

  expect(Object.keys(inputsOf(model('xZI1.0Pro'), all))).toEqual([]);
  expect(Object.keys(inputsOf(model('xSD4.5'), all))).toEqual(['image']);
  expect(Object.keys(inputsOf(model('xW3.0s'), all)).toSorted()).toEqual(['audio', 'image', 'video']);
});

test('Each limit on clips is the loosest of the routes, and gone where one lacks it', () => {
  const limits = {
    minSide: [240, 300],
    maxSide: [2_000, 4_000],
    maxPixels: [1_000_000, 2_000_000],
    maxRatio: [2, 3],
    minSeconds: [2, 4],
    maxSeconds: [10, 15],
    maxTotalSeconds: [15, 30],
    minFramesPerSecond: [12, 24],
  };
  const ofRoute = (place: 0 | 1) => ({
    video: Object.fromEntries(Object.entries(limits).map(([name, values]) => [name, values[place]])),
  });
  const loosest = Object.fromEntries(
    Object.entries(limits).map(([name, [low, high]]) => [name, name.startsWith('min') ? low : high]),
  );

  for (const inputs of [
    [ofRoute(0), ofRoute(1)],
    [ofRoute(1), ofRoute(0)],
  ])
    expect(inputsOf(model('xW3.0s'), routes(...inputs)).video).toMatchObject(loosest);
  const { video } = inputsOf(model('xW3.0s'), routes(ofRoute(0), {}));
  expect(Object.keys(video ?? {}).toSorted()).toEqual(['maxBytes', 'types']);
});

test('Transparency is refused where every route refuses it', () => {
  const opaque = { image: { alpha: false as const } };

  expect(inputsOf(model('xW2.7S'), routes(opaque, opaque)).image).toHaveProperty('alpha', false);
  expect(inputsOf(model('xW2.7S'), routes(opaque, {})).image).not.toHaveProperty('alpha');
});

test('A type that no upload has leaves the size of the others', () => {
  const { image } = inputsOf(model('xW2.7S'), routes({ image: { types: ['image/avif', 'image/png'] } }));

  expect(image?.maxBytes).toBe(30 * MIB);
});
