import { describe, expect, test } from '@jest/globals';
import { CATALOG } from '../../../../core/models/catalog.ts';
import { planCreations } from '../../../../ops/smoke/plan.ts';

const ALL = CATALOG.map(({ id }) => id);

describe('a smoke test creates', () => {
  test('the cheapest image and the shortest, cheapest video that need nothing but a prompt', () => {
    const { image, video } = planCreations(ALL, new Map());

    expect(image).toMatchObject({
      body: { model: 'xZI1.0Pro', size: '1K', aspectRatio: 'square' },
      priceThousandths: 1000,
      expected: { width: 1024, height: 1024 },
    });
    expect(video).toMatchObject({
      body: { model: 'xW3.0s', resolution: '480p', durationSec: 2 },
      priceThousandths: 6000,
      expected: { seconds: 2, resolution: '480p' },
    });
  });

  test("what is cheapest at the operator's rates", () => {
    const rate = { perSecond: { '1080p': 0.5, '2k': 20, '4k': 40 } };
    const { video } = planCreations(ALL, new Map([['xW3.0sPro', { model: 'xW3.0sPro', rate }]]));

    expect(video).toMatchObject({
      body: { model: 'xW3.0sPro', resolution: '1080p' },
      priceThousandths: 1000,
    });
  });

  test('nothing with models that are not offered, or need an image', () => {
    expect(planCreations(['xW2.7S'], new Map())).toEqual({ image: undefined, video: undefined });
  });
});
