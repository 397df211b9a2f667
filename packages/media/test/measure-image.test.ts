import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { measureImage } from '../src/measure-image.ts';
import { anImage } from './images.ts';

const noise = sharp({
  create: {
    width: 300,
    height: 200,
    channels: 4,
    background: '#33669980',
    noise: { type: 'gaussian', mean: 128, sigma: 30 },
  },
});
const png = { contentType: 'image/png', extension: 'png' };
const jpeg = { contentType: 'image/jpeg', extension: 'jpg' };
const webp = { contentType: 'image/webp', extension: 'webp' };
const IMAGES = [
  ['a PNG', await noise.clone().png().toBuffer(), png],
  ['a JPEG', await noise.clone().jpeg().toBuffer(), jpeg],
  ['a progressive JPEG', await noise.clone().jpeg({ progressive: true }).toBuffer(), jpeg],
  ['a JPEG with metadata', await noise.clone().withMetadata({ orientation: 1 }).jpeg().toBuffer(), jpeg],
  ['a lossy WebP', await noise.clone().removeAlpha().webp().toBuffer(), webp],
  ['a lossless WebP', await noise.clone().removeAlpha().webp({ lossless: true }).toBuffer(), webp],
  ['a WebP with transparency', await noise.clone().webp().toBuffer(), webp],
] as const;

describe('what the first bytes of an image say', () => {
  test.each(IMAGES)('of %s is its type and size', (_, bytes, format) => {
    expect(measureImage(bytes)).toEqual({ width: 300, height: 200, ...format });
  });

  test.each(IMAGES)(
    'of %s is never wrong, wherever they are cut off and whatever lies behind them',
    (_, bytes, format) => {
      const facts = { width: 300, height: 200, ...format };
      let known = 0;
      for (let length = 0; length <= bytes.byteLength && known < 30; length++) {
        for (const neighbour of [0x00, 0x7f, 0xff]) {
          const memory = Buffer.alloc(length + 64, neighbour);
          bytes.copy(memory, 32, 0, length);
          const found = measureImage(memory.subarray(32, 32 + length));
          if (found) expect({ length, ...found }).toEqual({ length, ...facts });
          known += found ? 1 : 0;
        }
      }

      expect(known).toBeGreaterThanOrEqual(30);
    },
  );

  test.each(['png', 'jpeg', 'webp'] as const)(
    'of a %s of a single pixel is its type and size',
    async (format) => {
      expect(measureImage(await anImage(1, 1, format))).toMatchObject({ width: 1, height: 1 });
    },
  );

  test.each([
    ['width', 16],
    ['height', 20],
  ])('is nothing when the %s is 0', (_, place) => {
    const bytes = Buffer.from(IMAGES[0][1]);
    bytes.writeUInt32BE(0, place);

    expect(measureImage(bytes)).toBeUndefined();
  });

  test('is nothing for a type that is not delivered', async () => {
    expect(measureImage(await anImage(8, 8, 'gif'))).toBeUndefined();
    expect(
      measureImage(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')),
    ).toBeUndefined();
    expect(measureImage(Buffer.alloc(4096))).toBeUndefined();
    expect(measureImage(Buffer.from('no image at all, only text'))).toBeUndefined();
  });
});
