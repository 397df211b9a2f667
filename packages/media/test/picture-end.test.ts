import { describe, expect, test } from '@jest/globals';
import { hasPictureEnd } from '../src/picture-end.ts';
import { anImage } from './images.ts';

/** A bitmap of 60 x 40 pixels with 24 bits each. */
const aBmp = (header = 40): Buffer => {
  const file = Buffer.alloc(14 + 40 + 180 * 40);
  file.write('BM');
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(header, 14);
  if (header === 12) {
    file.writeUInt16LE(60, 18);
    file.writeUInt16LE(40, 20);
    file.writeUInt16LE(24, 24);
  } else {
    file.writeInt32LE(60, 18);
    file.writeInt32LE(-40, 22);
    file.writeUInt16LE(24, 28);
  }
  return file;
};

/** The outermost boxes of a HEIC: its type, an index, and 100 bytes of media. */
const aHeic = (): Buffer => {
  const box = (type: string, size: number): Buffer => {
    const bytes = Buffer.alloc(size);
    bytes.writeUInt32BE(size);
    bytes.write(type, 4);
    return bytes;
  };
  return Buffer.concat([box('ftyp', 24), box('meta', 40), box('mdat', 108)]);
};

const FILES: [string, () => Promise<Buffer> | Buffer][] = [
  ['image/png', () => anImage(60, 40, 'png')],
  ['image/jpeg', () => anImage(60, 40, 'jpeg')],
  ['image/webp', () => anImage(60, 40, 'webp')],
  ['image/gif', () => anImage(60, 40, 'gif')],
  ['image/bmp', () => aBmp()],
  ['image/bmp', () => aBmp(12)],
  ['image/heic', aHeic],
  ['image/heif', aHeic],
];

describe('the end of an image', () => {
  test.each(FILES)('is found, also with bytes behind it: %s', async (contentType, make) => {
    const file = await make();

    expect(hasPictureEnd(contentType, file)).toBe(true);
    const behind = contentType.startsWith('image/hei') ? 3 : 100;
    expect(hasPictureEnd(contentType, Buffer.concat([file, Buffer.alloc(behind)]))).toBe(true);
  });

  test.each(FILES)('is missed wherever its image is cut: %s', async (contentType, make) => {
    const file = await make();

    for (const share of [0.3, 0.5, 0.9]) {
      const part = file.subarray(0, Math.floor(file.length * share));
      expect([share, hasPictureEnd(contentType, part)]).toEqual([share, false]);
    }
  });

  test('of a GIF may be without its last byte, which some writers leave out', async () => {
    const file = await anImage(60, 40, 'gif');

    expect(hasPictureEnd('image/gif', file.subarray(0, -1))).toBe(true);
    expect(hasPictureEnd('image/gif', file.subarray(0, -3))).toBe(false);
  });

  test('of a type that shows none is not looked for', () => {
    expect(hasPictureEnd('image/tiff', Buffer.alloc(8))).toBe(true);
  });
});
