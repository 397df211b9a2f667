import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CATALOG, type CatalogModel, DEFAULT_RATES, findModel } from '../../../../core/models/catalog.ts';
import { rateProblem } from '../../../../core/models/rate-problem.ts';
import type { ImageRate, Rate } from '../../../../core/models/rate-schemas.ts';
import { imagePrice, rateOf } from '../../../../core/models/rates.ts';

const model = (id: string): CatalogModel => {
  const found = findModel(id);
  if (!found) throw new Error(`There is no model ${id}.`);
  return found;
};
const perImage = (...tiers: [number | null, number][]): ImageRate => ({
  perImage: tiers.map(([maxPixels, xTokens]) => ({ maxPixels, xTokens })),
});

describe('the price of an image', () => {
  const rate = perImage([1_000_000, 1.5], [4_000_000, 2.005], [null, 7]);

  test.each([
    [1, 1_500],
    [999_999, 1_500],
    [1_000_000, 1_500],
    [1_000_001, 2_005],
    [4_000_000, 2_005],
    [4_000_001, 7_000],
    [16_777_216, 7_000],
  ])('of %p pixels is %p thousandths: the first tier that holds them', (pixels, price) => {
    expect(imagePrice(rate, pixels)).toBe(price);
  });

  test('does not exist on a rate without a last tier', () => {
    expect(() => imagePrice(perImage([100, 1]), 101)).toThrow('The rate has no tier for 101 pixels.');
  });
});

describe('the default rate card', () => {
  test.each(CATALOG.map((entry) => [entry.id, entry] as const))('holds a valid rate for %s', (id, entry) => {
    const rate = DEFAULT_RATES[id];

    expect(rate && rateProblem(entry, rate)).toBeUndefined();
    expect(rate).toBeDefined();
  });

  test('holds rates for models of the catalog only', () => {
    expect(Object.keys(DEFAULT_RATES).sort()).toEqual(CATALOG.map(({ id }) => id).sort());
  });

  test.each(Object.entries(DEFAULT_RATES))('rises from tier to tier of %s', (id, rate) => {
    const entry = model(id);
    const prices =
      'perImage' in rate
        ? rate.perImage.map(({ xTokens }) => xTokens)
        : (entry.type === 'video' ? entry.resolutions : []).map((name) => rate.perSecond[name] ?? 0);

    expect(prices.length).toBeGreaterThan(1);
    expect(prices).toEqual([...new Set(prices)].sort((a, b) => a - b));
  });

  test('gives way to the rate the operator set', () => {
    const rate = perImage([null, 9]);

    expect(rateOf('xQI3Pro', { rate })).toBe(rate);
    expect(rateOf('xQI3Pro', {})).toBe(DEFAULT_RATES.xQI3Pro);
    expect(rateOf('xQI3Pro', undefined)).toBe(DEFAULT_RATES.xQI3Pro);
    expect(rateOf('xOther', undefined)).toBeUndefined();
  });
});

describe('a rate', () => {
  const NO_LAST_TIER = 'The last tier of perImage needs maxPixels null.';
  const NOT_ASCENDING = 'The tiers of perImage need whole, ascending maxPixels.';

  test.each<[string, Rate]>([
    ['xQI3Pro', perImage([null, 0.001])],
    ['xQI3Pro', perImage([null, 1_000_000_000])],
    ['xQI3Pro', perImage([1, 3], [2, 2], [null, 1])],
    ['xW2.7S', { perSecond: { '1080p': 1.125, '720p': 1 } }],
  ])('of %s may be %j', (id, rate) => {
    expect(rateProblem(model(id), rate)).toBeUndefined();
  });

  test.each<[string, Rate, string]>([
    ['xQI3Pro', { perSecond: { '720p': 1 } }, 'xQI3Pro is billed per image: give perImage.'],
    ['xQI3Pro', perImage(), NO_LAST_TIER],
    ['xQI3Pro', perImage([1_000_000, 1]), NO_LAST_TIER],
    ['xQI3Pro', perImage([null, 1], [null, 2]), NOT_ASCENDING],
    ['xQI3Pro', perImage([2_000_000, 1], [1_000_000, 2], [null, 3]), NOT_ASCENDING],
    ['xQI3Pro', perImage([1_000_000, 1], [1_000_000, 2], [null, 3]), NOT_ASCENDING],
    ['xQI3Pro', perImage([0, 1], [null, 3]), NOT_ASCENDING],
    ['xQI3Pro', perImage([-5, 1], [null, 3]), NOT_ASCENDING],
    ['xQI3Pro', perImage([1.5, 1], [null, 3]), NOT_ASCENDING],
    ['xQI3Pro', perImage([Number.POSITIVE_INFINITY, 1], [null, 3]), NOT_ASCENDING],
    ['xQI3Pro', perImage([null, 0]), '0 is no price: it must be more than 0.'],
    ['xQI3Pro', perImage([1, 1], [null, -1]), '-1 is no price: it must be more than 0.'],
    ['xQI3Pro', perImage([null, 1.2345]), '1.2345 is not an amount of xTokens with at most 3 decimals.'],
    ['xQI3Pro', perImage([null, Number.NaN]), 'NaN is not an amount of xTokens with at most 3 decimals.'],
    [
      'xQI3Pro',
      perImage([null, 1e16]),
      '10000000000000000 is not an amount of xTokens with at most 3 decimals.',
    ],
    ['xQI3Pro', perImage([null, 1_000_000_000.001]), 'A price is at most 1000000000.'],
    ['xW2.7S', perImage([null, 1]), 'xW2.7S is billed per second: give perSecond.'],
    ['xW2.7S', { perSecond: {} }, 'perSecond lacks 720p, 1080p.'],
    ['xW2.7S', { perSecond: { '720p': 1 } }, 'perSecond lacks 1080p.'],
    ['xW2.7S', { perSecond: { '720p': 1, '1080p': 2, '4k': 3 } }, 'perSecond names unknown resolutions: 4k.'],
    [
      'xW2.7S',
      { perSecond: { '720p': 1, '1080p': 2, '4k': 3, '8k': 4 } },
      'perSecond names unknown resolutions: 4k, 8k.',
    ],
    ['xW2.7S', { perSecond: { '720p': 0, '1080p': 2 } }, '0 is no price: it must be more than 0.'],
    [
      'xW2.7S',
      { perSecond: { '720p': 1, '1080p': 0.0001 } },
      '0.0001 is not an amount of xTokens with at most 3 decimals.',
    ],
  ])('of %s may not be %j: %s', (id, rate, problem) => {
    expect(rateProblem(model(id), rate)).toBe(problem);
  });

  test('that is accepted prices every size of its model above 0', () => {
    const prices = fc.double({ min: -1, max: 10, noNaN: false });
    const bounds = fc.option(
      fc.integer({ min: -10, max: 10 }).map((n) => n * 500_000),
      { nil: null },
    );
    const tiers = fc.array(fc.tuple(bounds, prices), { maxLength: 3 });
    const valid = fc
      .tuple(tiers, fc.integer({ min: 1, max: 9_000 }))
      .map(([head, last]) => [...head, [null, last / 1000]]);
    fc.assert(
      fc.property(fc.oneof(tiers, valid), fc.integer({ min: 1, max: 2e7 }), (given, pixels) => {
        const rate = perImage(...(given as [number | null, number][]));
        fc.pre(rateProblem(model('xQI3Pro'), rate) === undefined);
        expect(imagePrice(rate, pixels)).toBeGreaterThan(0);
      }),
    );
  });
});
