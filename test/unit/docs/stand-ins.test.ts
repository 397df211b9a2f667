import { describe, expect, test } from '@jest/globals';
import { MEDIA, type Medium } from '../../../core/errors.ts';
import type { FileLimits } from '../../../core/provider-calls/input-limits.ts';
import { KNOWN_LIMITS } from '../../../core/provider-calls/upstream-limits.ts';
import { workOf } from '../../../packages/sandbox/src/fal/endpoints.ts';
import { inputLimitsOf } from '../../../packages/sandbox/src/input-limits.ts';
import { readImageRequest } from '../../../packages/sandbox/src/modelstudio/image-request.ts';
import { findVideoModel } from '../../../packages/sandbox/src/modelstudio/video-models.ts';
import { codeIn, readDocument, tableRows } from './documents.ts';

const rows = tableRows(
  readDocument('docs/configuring.md'),
  ...['model', 'upstream', 'limit', 'upstream takes', 'catalog offers'],
).flatMap(([, upstreams = '', limit = '', takes = '']) =>
  upstreams.split(', ').map((upstream): [string, string, string] => [codeIn(upstream), codeIn(limit), takes]),
);

/** The limits that creations are held to, which the guide lists (test/unit/core/provider-calls), as a stand-in has them. */
const asStandIn = ({ types = [], alpha, ...limits }: FileLimits, medium: Medium) => ({
  ...limits,
  ...(medium === 'image' && {
    formats: [...new Set(types.map((type) => type.slice('image/'.length).replace('heic', 'heif')))],
    ...(alpha === false && { opaque: ['png'] }),
  }),
});
const FILES = Object.entries(KNOWN_LIMITS).flatMap(([upstream, { inputs = {} }]) =>
  MEDIA.flatMap((medium) => {
    const limits = inputs[medium];
    return limits ? [[upstream, medium, limits] as const] : [];
  }),
);

const isRefused = (act: () => unknown): boolean => {
  try {
    act();
    return false;
  } catch {
    return true;
  }
};

/** The sides of an image of about so many pixels, whose area is not below them. */
const sized = (pixels: number): [number, number] => {
  const width = Math.floor(Math.sqrt(pixels));
  return [width, Math.ceil(pixels / width)];
};
const studioImage = (model: string, pixels: number, prompt = 'a fox') => {
  const [width, height] = sized(pixels);
  return readImageRequest({
    model,
    input: { messages: [{ role: 'user', content: [{ text: prompt }] }] },
    parameters: { size: `${width}*${height}` },
  });
};

describe('a stand-in', () => {
  test.each(FILES)('takes the files that a creation may name: %s, %s', (upstream, medium, limits) => {
    expect(inputLimitsOf(upstream)[medium]).toMatchObject(asStandIn(limits, medium));
  });

  test.each(rows)('takes what the guide to configuring says: %s, %s of %s', (upstream, limit, takes) => {
    const figure = Number(takes);
    switch (limit) {
      case 'promptCharacters':
        expect(studioImage(upstream, 2 ** 20, 'x'.repeat(figure + 1)).prompt).toHaveLength(figure);
        break;
      case 'minPixels':
        expect(isRefused(() => studioImage(upstream, figure))).toBe(false);
        expect(isRefused(() => studioImage(upstream, figure - 1_000))).toBe(true);
        break;
      case 'maxPixels':
        expect(isRefused(() => studioImage(upstream, figure))).toBe(false);
        expect(isRefused(() => studioImage(upstream, figure + 1))).toBe(true);
        break;
      case 'referenceVideosSeconds':
        expect(inputLimitsOf(upstream).video?.maxTotalSeconds).toBe(figure);
        break;
      case 'resolutions':
        expect(findVideoModel(upstream)?.resolutions.join(', ')).toBe(takes);
        break;
      case 'workspaceHost':
        expect(findVideoModel(upstream)?.isPreview).toBe(true);
        break;
      default:
        throw new Error(`The stand-in of ${upstream} is not tried with ${limit}.`);
    }
  });

  const falImage = (upstream: string, pixels: number, images = {}) => {
    const [width, height] = sized(pixels);
    const body = { prompt: 'a fox', image_size: { width, height }, ...images };
    return workOf(upstream.includes('z-image') ? upstream : `${upstream}/text-to-image`, body).kind;
  };

  test("of fal takes what the guide says of fal's models", () => {
    const guide = readDocument('docs/configuring.md');
    const documented = tableRows(guide, 'model', '`upstreamModel` at fal', 'not made there')
      .map(([, upstream = '', gaps = '']) => [/`([^`]+)`/.exec(upstream)?.[1] ?? '', gaps])
      .flatMap(([upstream = '', gaps = '']) => {
        const [, least] = /fewer than (\d+)/.exec(gaps) ?? [];
        const [, most] = /more than (\d+) pixels/.exec(gaps) ?? [];
        const [, group] = /groups of more than (\d+)/.exec(gaps) ?? [];
        const [, together] = /more than (\d+) s of reference videos/.exec(gaps) ?? [];
        return least || most || group || together ? [[upstream, least, most, group, together] as const] : [];
      });

    expect(documented).toHaveLength(4);
    for (const [upstream, least, most, group, together] of documented) {
      if (least) {
        expect(falImage(upstream, Number(least))).toBe('images');
        expect(falImage(upstream, Number(least) - 2_000)).toBe('error');
      }
      if (most) {
        expect(falImage(upstream, Number(most))).toBe('images');
        expect(falImage(upstream, Number(most) + 1)).toBe('error');
      }
      if (group) {
        expect(falImage(upstream, 2 ** 22, { max_images: Number(group) })).toBe('images');
        expect(falImage(upstream, 2 ** 22, { max_images: Number(group) + 1 })).toBe('error');
      }
      if (together) {
        const { video, audio } = inputLimitsOf(upstream);
        expect([video?.maxTotalSeconds, audio?.maxTotalSeconds]).toEqual([
          Number(together),
          Number(together),
        ]);
      }
    }
  });
});
