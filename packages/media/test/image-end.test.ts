import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import type { ImageExtension } from '../src/file-types.ts';
import { ImageEnd } from '../src/image-end.ts';

const noise = sharp({
  create: {
    ...{ width: 301, height: 199, channels: 4, background: '#33669980' },
    noise: { type: 'gaussian', mean: 128, sigma: 30 },
  },
});
const opaque = () => noise.clone().removeAlpha();
const frames = sharp([await opaque().png().toBuffer(), await opaque().negate().png().toBuffer()], {
  join: { animated: true },
});
const IMAGES: [string, ImageExtension, Buffer][] = [
  ['a PNG', 'png', await noise.clone().png().toBuffer()],
  [
    'an interlaced PNG of a palette',
    'png',
    await noise.clone().png({ progressive: true, palette: true }).toBuffer(),
  ],
  ['a JPEG', 'jpg', await opaque().jpeg().toBuffer()],
  ['a progressive JPEG', 'jpg', await opaque().jpeg({ progressive: true }).toBuffer()],
  ['a JPEG with metadata', 'jpg', await opaque().withMetadata({ orientation: 1 }).jpeg().toBuffer()],
  ['a lossy WebP', 'webp', await opaque().webp().toBuffer()],
  ['a lossless WebP', 'webp', await opaque().webp({ lossless: true }).toBuffer()],
  ['a WebP with transparency', 'webp', await noise.clone().webp().toBuffer()],
  ['an animated WebP', 'webp', await frames.clone().webp().toBuffer()],
];

const isWhole = (extension: ImageExtension, bytes: Buffer, pieceBytes = 997): boolean => {
  const end = new ImageEnd(extension);
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) end.take(bytes.subarray(at, at + pieceBytes));
  return end.isWhole();
};

describe('the end of an image', () => {
  test.each(IMAGES)('of %s is found, however it arrives', (_, extension, bytes) => {
    for (const pieceBytes of [1, 3, 997, bytes.byteLength])
      expect(isWhole(extension, bytes, pieceBytes)).toBe(true);
  });

  test.each(IMAGES)('of %s may be followed by anything', (_, extension, bytes) => {
    expect(isWhole(extension, Buffer.concat([bytes, bytes.subarray(0, 100), Buffer.alloc(9)]))).toBe(true);
  });

  test.each(IMAGES)('of %s is missing wherever it is cut off', (_, extension, bytes) => {
    // A last byte of 0 that makes the length even, writers of WebP may leave out.
    const last = extension === 'webp' ? 2 : 1;
    const lengths = [...Array(200).keys()].map((part) => Math.floor((part * (bytes.byteLength - 40)) / 200));
    for (let cut = last; cut <= 40; cut++) lengths.push(bytes.byteLength - cut);

    expect(lengths.filter((length) => isWhole(extension, bytes.subarray(0, length)))).toEqual([]);
  });

  test('of a JPEG is none of those in its metadata', async () => {
    const thumbnail = await opaque().resize(64).jpeg().toBuffer();
    const segment = Buffer.alloc(4);
    segment.writeUInt16BE(0xffe1, 0);
    segment.writeUInt16BE(thumbnail.byteLength + 2, 2);
    const jpeg = await opaque().jpeg().toBuffer();
    const carrying = Buffer.concat([jpeg.subarray(0, 2), segment, thumbnail, jpeg.subarray(2)]);

    expect(isWhole('jpg', carrying)).toBe(true);
    expect(isWhole('jpg', carrying.subarray(0, carrying.byteLength >> 1))).toBe(false);
  });

  test.each<[string, ImageExtension, Buffer]>([
    [
      'PNG',
      'png',
      Buffer.from(
        '89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000049454e44ae426082',
        'hex',
      ),
    ],
    ['JPEG', 'jpg', Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')],
    ['WebP', 'webp', Buffer.from('524946460a00000057454250414c504800000000', 'hex')],
  ])('of a %s without a picture is no end', (_, extension, bytes) => {
    expect(isWhole(extension, bytes)).toBe(false);
  });
});
