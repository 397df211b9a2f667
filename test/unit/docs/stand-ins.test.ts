import { describe, expect, test } from '@jest/globals';
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

type Medium = 'image' | 'video' | 'audio';
const MEDIUM: Readonly<Record<string, Medium>> = {
  images: 'image',
  references: 'image',
  clips: 'video',
  audios: 'audio',
};
const MEGABYTE = 1024 * 1024;

/** How the document writes each limit on files, and the limit of a stand-in that it means. */
const PHRASES: readonly [RegExp, (...figures: number[]) => object][] = [
  [/sides of (\d+) to (\d+) pixels/, (minSide, maxSide) => ({ minSide, maxSide })],
  [/sides over (\d+) pixels/, (side = 0) => ({ minSide: side + 1 })],
  [/ratio 1:(\d+) to \1:1/, (maxRatio) => ({ maxRatio })],
  [/(\d+) megapixels/, (millions = 0) => ({ maxPixels: millions * 1_000_000 })],
  [/(\d+) MB/, (megabytes = 0) => ({ maxBytes: megabytes * MEGABYTE })],
  [/of (\d+) s or more/, (minSeconds) => ({ minSeconds })],
  [/of (\d+) to (\d+) s/, (minSeconds, maxSeconds) => ({ minSeconds, maxSeconds })],
  [/(\d+) s together/, (maxTotalSeconds) => ({ maxTotalSeconds })],
  [/(\d+) frames a second/, (minFramesPerSecond) => ({ minFramesPerSecond })],
  [
    /jpeg, png without alpha, bmp, webp/,
    () => ({ formats: ['jpeg', 'png', 'bmp', 'webp'], opaque: ['png'] }),
  ],
  // The formats that every stand-in takes.
  [/mp4 and mov|wav and mp3/, () => ({})],
];

/** The limits in a cell, and what of its text is none of the known phrases. */
const limitsIn = (cell: string): { limits: object; rest: string } => {
  let rest = cell;
  const limits = {};
  for (const [phrase, limitOf] of PHRASES) {
    const found = phrase.exec(rest);
    if (!found) continue;
    Object.assign(limits, limitOf(...found.slice(1).map(Number)));
    rest = rest.replace(phrase, '');
  }
  return { limits, rest: rest.replace(/[;,\s]/g, '') };
};

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
  test.each(rows.filter(([, limit]) => MEDIUM[limit]))(
    'takes the files that the guide to configuring says: %s, %s of %s',
    (upstream, limit, takes) => {
      const { limits, rest } = limitsIn(takes);

      expect(rest).toBe('');
      expect(limits).not.toEqual({});
      expect(inputLimitsOf(upstream)[MEDIUM[limit] as Medium]).toMatchObject(limits);
    },
  );

  test.each(rows.filter(([, limit]) => !MEDIUM[limit]))(
    'takes what the guide to configuring says: %s, %s of %s',
    (upstream, limit, takes) => {
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
    },
  );

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
