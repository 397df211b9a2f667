import { expect, test } from '@jest/globals';
import { measureImage } from '../../../core/media/measure-image.ts';
import { measureVideo } from '../../../core/media/measure-video.ts';
import { aVideo } from '../../unit/builders/videos.ts';
import { CountingFile } from '../../unit/fakes/counting-file.ts';

/** How long files are altered. */
const SECONDS = 60;
/** What a measurement may read, whatever the file says: as much as is fetched of a clip. */
const MAX_READS = 20_000;

/** A sequence of numbers from 0 to below 1 that a seed repeats (mulberry32). */
const randomFrom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080010001001011100ffd9', 'hex');
const WEBP = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

/** Some bytes changed, removed, repeated or made extreme. */
const altered = (file: Uint8Array, random: () => number): Uint8Array => {
  const bytes = Buffer.from(file);
  const place = () => Math.floor(random() * bytes.length);
  for (let change = 0; change <= random() * 8; change++) {
    const at = place();
    const kind = Math.floor(random() * 4);
    if (kind === 0) bytes[at] = Math.floor(random() * 256);
    else if (kind === 1)
      bytes.subarray(at, at + 1 + Math.floor(random() * 8)).fill(random() < 0.5 ? 0 : 0xff);
    else if (kind === 2) bytes.set(bytes.subarray(at, at + place() / 8), Math.floor(at / 2));
    else if (at + 4 <= bytes.length) bytes.writeUInt32BE(Math.floor(random() * 2 ** 32), at);
  }
  return random() < 0.2 ? bytes.subarray(0, place()) : bytes;
};

test('an altered media file is measured or refused, within bounded reads, for a minute', async () => {
  const videos = await Promise.all([
    aVideo({ seconds: 1 }),
    aVideo({ seconds: 1, layout: 'index-last' }),
    aVideo({ seconds: 2, layout: 'fragments', reordered: true }),
    aVideo({ seconds: 1, container: 'mov' }),
    aVideo({ seconds: 1, container: 'webm' }),
    aVideo({ seconds: 1, container: 'mkv' }),
  ]);
  const images = [PNG, JPEG, WEBP];
  const counts = { measured: 0, refused: 0, images: 0 };
  const endAt = Date.now() + SECONDS * 1000;
  for (let seed = 1; Date.now() < endAt; seed++) {
    const random = randomFrom(seed);
    const video = altered(videos[seed % videos.length] ?? PNG, random);
    const file = new CountingFile(video, random() < 0.3 ? 'unknown' : video.byteLength);
    try {
      const { durationSec } = await measureVideo(file);
      expect(Number.isFinite(durationSec) && durationSec > 0).toBe(true);
      counts.measured++;
    } catch (error) {
      expect([seed, (error as Error).name]).toEqual([seed, 'UnreadableVideoError']);
      counts.refused++;
    }
    expect([seed, file.reads <= MAX_READS]).toEqual([seed, true]);
    const size = measureImage(altered(images[seed % images.length] ?? PNG, random));
    if (size) {
      expect([seed, Number.isInteger(size.width) && Number.isInteger(size.height)]).toEqual([seed, true]);
      counts.images++;
    }
  }
  console.log(`altered files: ${JSON.stringify(counts)}`);
  expect(Math.min(counts.measured, counts.refused)).toBeGreaterThan(100);
});
