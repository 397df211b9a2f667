import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { SpooledVideo } from '../src/spooled-video.ts';
import { videoTypeOf } from '../src/video-type.ts';
import { measure, secondsOf } from './measured.ts';
import { words } from './stretched-clips.ts';
import { aBox, anEncodedVideo, aVideo, type VideoOptions, withBox, withBoxBehind } from './videos.ts';

describe('measuring a video', () => {
  test.each<[string, VideoOptions]>([
    ['an MP4 that begins with its index', {}],
    ['an MP4 that ends with its index', { layout: 'index-last' }],
    ['an MP4 in fragments', { layout: 'fragments' }],
    ['an MP4 with reordered frames', { reordered: true }],
    ['a QuickTime film', { container: 'mov' }],
    ['a QuickTime film in fragments', { container: 'mov', layout: 'fragments' }],
    ['a WebM', { container: 'webm' }],
    ['a Matroska file', { container: 'mkv' }],
  ])('measures %s: duration and size', async (_, options) => {
    const file = await aVideo({ ...options, seconds: 7.3, width: 1280, height: 720 });

    expect(await measure(file)).toStrictEqual({
      durationSec: 7.3,
      longestSec: 7.3,
      framesPerSecond: expect.closeTo(10, 1),
      width: 1280,
      height: 720,
    });
  });

  test('measures the duration a real encoder wrote', async () => {
    const facts = await measure(await anEncodedVideo(4, 64, 48));

    expect(facts).toMatchObject({ durationSec: 4, longestSec: 4, width: 64, height: 48 });
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
      { numRuns: 12 },
    );
  });

  test('of an edited track takes what is shown', async () => {
    const file = await aVideo({ layout: 'index-last' });
    const shown = 2.5 * file.readUInt32BE(file.indexOf('mvhd') + 4 + 12);
    const list = aBox('edts', aBox('elst', words(0, 1), words(shown, 0, 0x10000)));
    const edited = withBox(withBoxBehind(file, 'tkhd', ['trak', 'moov'], list), 'mvhd', (bytes, content) =>
      bytes.writeUInt32BE(shown, content + 16),
    );

    expect(await measure(edited)).toMatchObject({ durationSec: 2.5, longestSec: 5 });
  });

  test('reads a file once it is written, in however many pieces', async () => {
    const file = await aVideo({ seconds: 3 });
    const video = new SpooledVideo();
    for (let place = 0; place < file.length; place += 100) {
      await video.write(file.subarray(place, place + 100));
    }

    expect(await video.measure(new AbortController().signal)).toMatchObject({ durationSec: 3 });
    await video.close();
  });

  test('leaves no file with a name', async () => {
    const files = () => readdirSync(tmpdir()).filter((name) => name.startsWith('video-'));
    const former = new Set(files());
    const video = new SpooledVideo();
    await video.write(await aVideo());

    // Files of other processes have a name for a moment; a file of this one would keep its name until it is closed.
    const named = () => files().filter((name) => !former.has(name));
    for (let tries = 0; named().length > 0 && tries < 100; tries++) await setTimeout(20);
    expect(named()).toEqual([]);
    await video.close();
  });
});

describe('QuickTime without the box of its type, as older cameras and editors wrote it', () => {
  test.each(['index-first', 'index-last'] as const)('is measured with the %s', async (layout) => {
    const file = await aVideo({ container: 'mov', layout, seconds: 2 });
    for (const type of ['skip', 'free', 'wide', 'junk', 'udta']) {
      const old = Buffer.from(file);
      old.write(type, 4, 'latin1');

      expect(videoTypeOf(old)).toEqual({ contentType: 'video/quicktime', extension: 'mov' });
      expect(await secondsOf(old)).toBe(2);
    }
  });

  test.each(['moov', 'mdat'])('is recognized by a first box %s', (type) => {
    expect(videoTypeOf(Buffer.from(`\0\0\x10\0${type}\0\0\0\x6c`, 'latin1'))).toMatchObject({
      extension: 'mov',
    });
  });
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
