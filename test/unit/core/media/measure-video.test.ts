import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { measureVideo, videoTypeOf } from '../../../../core/media/measure-video.ts';
import { anEncodedVideo, aVideo, type VideoOptions } from '../../builders/videos.ts';
import { CountingFile, measure, secondsOf } from '../../fakes/counting-file.ts';

describe('measuring a video', () => {
  test.each<[string, VideoOptions, string, string]>([
    ['an MP4 that begins with its index', {}, 'video/mp4', 'mp4'],
    ['an MP4 that ends with its index', { layout: 'index-last' }, 'video/mp4', 'mp4'],
    ['an MP4 in fragments', { layout: 'fragments' }, 'video/mp4', 'mp4'],
    ['an MP4 with reordered frames', { reordered: true }, 'video/mp4', 'mp4'],
    ['a QuickTime film', { container: 'mov' }, 'video/quicktime', 'mov'],
    ['a QuickTime film in fragments', { container: 'mov', layout: 'fragments' }, 'video/quicktime', 'mov'],
    ['a WebM', { container: 'webm' }, 'video/webm', 'webm'],
    ['a Matroska file', { container: 'mkv' }, 'video/x-matroska', 'mkv'],
  ])('measures %s: type, duration and size', async (_, options, contentType, extension) => {
    const file = await aVideo({ ...options, seconds: 7.3, width: 1280, height: 720 });

    const facts = await measure(file);

    expect(facts).toStrictEqual({ contentType, extension, durationSec: 7.3, width: 1280, height: 720 });
  });

  test('measures the duration a real encoder wrote', async () => {
    const facts = await measure(await anEncodedVideo(4, 64, 48));

    expect(facts).toMatchObject({ durationSec: 4, width: 64, height: 48, contentType: 'video/mp4' });
  });

  test('agrees with another reader on any file a muxer writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          layout: fc.constantFrom('index-first', 'index-last', 'fragments'),
          container: fc.constantFrom('mp4', 'mov', 'webm', 'mkv'),
          framesPerSecond: fc.constantFrom(1, 12, 24, 25, 30, 60),
          seconds: fc.integer({ min: 1, max: 20 }),
          frameBytes: fc.integer({ min: 1, max: 3_000 }),
          reordered: fc.boolean(),
        }),
        async (options) => {
          const file = await aVideo(options as VideoOptions);

          const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(file) });

          // A block of a WebM does not say how long its picture stands; the file's header does.
          const expected = ['webm', 'mkv'].includes(options.container)
            ? await input.getDurationFromMetadata()
            : await input.computeDuration();
          expect(await secondsOf(file)).toBeCloseTo(expected ?? Number.NaN, 2);
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each<[string, VideoOptions, number]>([
    ['begins with its index', { layout: 'index-first' }, 1],
    ['ends with its index', { layout: 'index-last' }, 2],
  ])('reads next to nothing of a large file that %s', async (_, options, reads) => {
    const file = new CountingFile(await aVideo({ ...options, frameBytes: 200_000 }));

    await measureVideo(file);

    expect(file.reads).toBe(reads);
    expect(file.bytesRead).toBeLessThanOrEqual(2 * 256 * 1024);
  });

  test.each<VideoOptions>([{}, { layout: 'index-last' }, { layout: 'fragments' }, { container: 'webm' }])(
    'needs no size of the file, and reads a small one once: %j',
    async (options) => {
      const file = new CountingFile(await aVideo(options), 'unknown');

      expect((await measureVideo(file)).durationSec).toBe(5);
      expect(file.reads).toBe(1);
    },
  );
});

describe('the type of a video', () => {
  test.each([
    ['isom', 'video/mp4'],
    ['mp42', 'video/mp4'],
    ['avc1', 'video/mp4'],
    ['qt  ', 'video/quicktime'],
  ])('is recognized by the brand %p', (brand, contentType) => {
    expect(videoTypeOf(Buffer.from(`\0\0\0\x14ftyp${brand}`, 'latin1'))).toMatchObject({ contentType });
  });

  test.each(['mp4', 'mov', 'webm', 'mkv'] as const)(
    'of %s is not known before enough bytes are there',
    async (container) => {
      const file = await aVideo({ container });
      const known = [...Array(64).keys()].map((length) => videoTypeOf(file.subarray(0, length))?.extension);

      expect(known[0]).toBeUndefined();
      expect(known[11]).toBeUndefined();
      expect(known[63]).toBe(container);
      expect(new Set(known)).toEqual(new Set([undefined, container]));
    },
  );
});
