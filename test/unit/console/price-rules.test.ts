import { describe, expect, test } from '@jest/globals';
import { billingText, costOf, costText, quoteText, type Rate } from '../../../console/make/price-rules.ts';
import { CATALOG } from '../../../core/models/catalog.ts';
import type { Model } from '../../../packages/client/src/types.ts';

const modelOf = (id: string) => CATALOG.find((model) => model.id === id) as Model;
const PER_IMAGE: Rate = {
  perImage: [
    { maxPixels: 4_194_304, xTokens: 4.005 },
    { maxPixels: null, xTokens: 6 },
  ],
};
const PER_SECOND: Rate = { perSecond: { '480p': 3, '1080p': 10 } };
const COMPLETE = { prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
const costs = (id: string, body: Record<string, unknown>, rate: Rate | undefined) =>
  costOf(modelOf(id), { model: id, ...COMPLETE, ...body }, false, rate);

describe('what a request will cost', () => {
  test.each([
    [{}, 4.005],
    [{ n: 3 }, 12.015],
    [{ size: '4K', n: 2 }, 12],
    [{ size: '2K', aspectRatio: 'landscape' }, 4.005],
    [{ sequential: 'auto', sequentialOptions: { maxImages: 5 } }, 20.025],
  ])('is that of the most images that %j can deliver, by their size', (body, xTokens) => {
    expect(costs('xSD4.5', body, PER_IMAGE)).toEqual({ xTokens, isLeast: false });
  });

  test('is that of the seconds of a video, and at least that with reference videos', () => {
    expect(costs('xW3.0s', { durationSec: 7, resolution: '480p' }, PER_SECOND)).toEqual({
      ...{ xTokens: 21, isLeast: false },
    });
    const withClip = costs('xW3.0s', { referenceVideos: ['https://example.com/a.mp4'] }, PER_SECOND);
    expect(withClip).toEqual({ xTokens: 50, isLeast: true });
    expect(costText(withClip ?? { xTokens: 0, isLeast: false })).toBe('at least 50 xTokens');
  });

  test('is not said while the form is not right, nor without a rate', () => {
    expect(costs('xSD4.5', { n: 99 }, PER_IMAGE)).toBeUndefined();
    expect(costs('xSD4.5', {}, undefined)).toBeUndefined();
    expect(costs('xW3.0s', { resolution: '720p' }, PER_SECOND)).toBeUndefined();
  });
});

describe('the answer of the service', () => {
  const quote = { xTokens: 12, balance: 100, covered: true, budgets: [] };
  const budget = { of: 'endUser', per: 'day', limit: 20, spent: 15.5, renewsAt: '' } as const;
  test.each([
    [quote, 'Costs 12 xTokens, and is covered.'],
    [{ ...quote, balance: 3, covered: false }, 'Costs 12 xTokens: the balance is 3.'],
    [
      { ...quote, covered: false, budgets: [{ ...budget, of: 'apiKey', limit: 90 } as const, budget] },
      "Costs 12 xTokens: of the end-user's 20 a day, 15.5 are spent.",
    ],
  ])('%j is %s', (given, text) => {
    expect(quoteText(given)).toBe(text);
  });
});

test('How a model is billed says its prices where they are known', () => {
  expect(billingText(modelOf('xSD4.5'), undefined)).toBe('Billed per image.');
  expect(billingText(modelOf('xSD4.5'), PER_IMAGE)).toBe(
    'Billed per image: 4.005 xTokens up to 4.2 MP, 6 xTokens above 4.2 MP.',
  );
  expect(billingText(modelOf('xSD4.5'), { perImage: [{ maxPixels: null, xTokens: 2 }] })).toBe(
    'Billed per image: 2 xTokens.',
  );
  expect(billingText(modelOf('xW3.0s'), PER_SECOND)).toBe(
    'Billed per second: 3 xTokens at 480p, 10 xTokens at 1080p.',
  );
});
