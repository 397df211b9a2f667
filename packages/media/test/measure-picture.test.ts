import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import sharp from 'sharp';
import { measurePicture } from '../src/measure-picture.ts';

const pixels = (channels: 3 | 4 = 3) =>
  sharp({ create: { width: 60, height: 40, channels, background: { r: 1, g: 2, b: 3, alpha: 0.5 } } });
const SIZE = { width: 60, height: 40 };

describe('an image that is an input', () => {
  test.each([
    ['image/jpeg', () => pixels().jpeg().toBuffer()],
    ['image/png', () => pixels().png().toBuffer()],
    ['image/webp', () => pixels().webp().toBuffer()],
    ['image/webp', () => pixels().webp({ lossless: true }).toBuffer()],
    ['image/tiff', () => pixels().tiff().toBuffer()],
    ['image/gif', () => pixels().gif().toBuffer()],
  ])('is measured: %s', async (contentType, make) => {
    expect(measurePicture(await make())).toEqual({ ...SIZE, contentType, hasAlpha: false });
  });

  test('is measured as a bitmap', () => {
    const header = Buffer.alloc(54);
    header.write('BM', 'latin1');
    header.writeUInt32LE(40, 14);
    header.writeInt32LE(60, 18);
    header.writeInt32LE(-40, 22);

    expect(measurePicture(header)).toEqual({ ...SIZE, contentType: 'image/bmp', hasAlpha: false });
  });

  test('says of a PNG whether any of it is transparent', async () => {
    const indexed = pixels(4).png({ palette: true }).toBuffer();

    expect(measurePicture(await pixels(4).png().toBuffer())).toMatchObject({ hasAlpha: true });
    expect(measurePicture(await indexed)).toMatchObject({ hasAlpha: true });
    expect(measurePicture(await pixels(4).webp().toBuffer())).toMatchObject({ hasAlpha: false });
  });

  test.each([
    ['AVIF', () => pixels().avif().toBuffer()],
    ['SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
    ['a page', async () => Buffer.from('<html><script>alert(1)</script>')],
    ['nothing', async () => Buffer.alloc(0)],
    ['the beginning of a PNG', async () => Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ])('is none that is taken: %s', async (_, make) => {
    expect(measurePicture(await make())).toBeUndefined();
  });

  test.each(['BM', 'II*\0', 'GIF89a', '\xff\xd8\xff', 'RIFF'])(
    'is measured by its own bytes, not by those beside it in memory: %j',
    (start) => {
      const memory = Buffer.alloc(1_000, 7);
      memory.write(start, 500, 'latin1');

      expect(measurePicture(memory.subarray(500, 500 + start.length))).toBeUndefined();
    },
  );

  test('of any bytes is measured, or is none', async () => {
    const starts = await Promise.all([
      pixels().png().toBuffer(),
      pixels().tiff().toBuffer(),
      pixels().gif().toBuffer(),
    ]);
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        fc.nat(),
        fc.uint8Array({ maxLength: 50 }),
        (start, at, noise) => {
          const bytes = Buffer.from(start);
          bytes.set(noise.subarray(0, Math.max(0, bytes.length - (at % bytes.length))), at % bytes.length);
          const found = measurePicture(bytes);
          if (found) expect(found.width * found.height).toBeGreaterThan(0);
        },
      ),
    );
  });
});
