import { beforeAll, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { parseImageRequest } from '../../../core/creation/create-image-rules.ts';
import type { parseVideoRequest } from '../../../core/creation/create-video-rules.ts';

interface Rules {
  parseImageRequest: typeof parseImageRequest;
  parseVideoRequest: typeof parseVideoRequest;
}
const readRules = async (): Promise<Rules> => ({
  ...(await import('../../../core/creation/create-image-rules.ts')),
  ...(await import('../../../core/creation/create-video-rules.ts')),
});

let [inTheService, inTheBrowser] = [] as unknown as [Rules, Rules];
beforeAll(async () => {
  inTheService = await readRules();
  jest.resetModules();
  jest.unstable_mockModule('zod/mini', () => import('../../../console/zod-mini.ts'));
  inTheBrowser = await readRules();
});

const URLS = ['https://example.com/a.png', 'http://example.com', 'ftp://x', '', 'https://u:p@example.com/'];
const anything = fc.oneof(
  fc.constantFrom(undefined, null, true, {}, [], Number.NaN, -1, 0, 1, 2.5, 15, 2 ** 53),
  fc.constantFrom(
    '',
    'auto',
    '1K',
    '640x480',
    '10x10',
    '1080p',
    '16:9',
    ' a@example.com',
    'x@xn--99.example',
  ),
  fc.string(),
);
const urls = fc.oneof(fc.array(fc.oneof(fc.constantFrom(...URLS), anything), { maxLength: 14 }), anything);
const mostly = (value: string) =>
  fc.oneof({ arbitrary: fc.constant(value), weight: 4 }, { arbitrary: anything, weight: 1 });
const body = (model: readonly string[]) =>
  fc.record(
    {
      model: fc.oneof(fc.constantFrom(...model), anything),
      prompt: mostly('a lighthouse'),
      endUserEmail: mostly('ada@example.com'),
      ...{ webhookUrl: anything, size: anything, aspectRatio: anything, n: anything, sequential: anything },
      sequentialOptions: fc.oneof(
        fc.record({ maxImages: anything, more: anything }, { requiredKeys: [] }),
        anything,
      ),
      ...{ resolution: anything, durationSec: anything, ratio: anything, unheardOf: anything },
      ...{ references: urls, image: fc.oneof(fc.constantFrom(...URLS), anything), lastFrame: anything },
      ...{ referenceImages: urls, referenceVideos: urls, referenceAudios: urls },
    },
    { requiredKeys: ['model', 'prompt', 'endUserEmail'] },
  );

/** A parse as plain values: its error is of another class in each copy of the rules. */
const plain = (parsed: ReturnType<Rules['parseImageRequest']> | ReturnType<Rules['parseVideoRequest']>) =>
  parsed.ok ? parsed : { ...parsed, error: { ...parsed.error.fields } };

test.each([
  ['parseImageRequest', ['xSD4.5', 'xZI1.0Pro']],
  ['parseVideoRequest', ['xW2.7S', 'xW3.0s']],
] as const)('the browser parses every body as the service does: %s', (name, models) => {
  fc.assert(
    fc.property(body(models), (given) => {
      const parsed = plain(inTheService[name](given, false));

      expect(plain(inTheBrowser[name](given, false))).toEqual(parsed);
    }),
    { numRuns: 500 },
  );
});

test('the browser’s copy is another one, and accepts what is right', () => {
  const right = { model: 'xSD4.5', prompt: ' a lighthouse ', endUserEmail: 'ADA@example.com', n: 2 };

  expect(inTheBrowser.parseImageRequest).not.toBe(inTheService.parseImageRequest);
  expect(plain(inTheBrowser.parseImageRequest(right, false))).toEqual(
    plain(inTheService.parseImageRequest(right, false)),
  );
  expect(inTheBrowser.parseImageRequest(right, false).ok).toBe(true);
});
