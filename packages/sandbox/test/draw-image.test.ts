import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { drawImage } from '../src/media/draw-image.ts';
import { glyphsOf, widthOf } from '../src/media/stroke-font.ts';
import { setText } from '../src/media/text-block.ts';

const aDrawing = (overrides: Partial<Parameters<typeof drawImage>[0]> = {}) => ({
  width: 320,
  height: 200,
  format: 'png' as const,
  text: 'a red fox',
  caption: '',
  index: 0,
  watermark: false,
  ...overrides,
});

/** Counts white pixels; only text is white. */
const countWhite = async (image: Buffer) => {
  const pixels = await sharp(image).greyscale().raw().toBuffer();
  return pixels.filter((brightness) => brightness > 250).length;
};

describe('a drawn image', () => {
  test.each([
    { width: 1024, height: 1024, format: 'png' as const },
    { width: 64, height: 640, format: 'png' as const },
    { width: 16_384, height: 256, format: 'jpeg' as const },
    { width: 997, height: 1003, format: 'jpeg' as const },
  ])('is exactly $width x $height $format', async (size) => {
    const { width, height, format, hasAlpha } = await sharp(await drawImage(aDrawing(size))).metadata();

    expect({ width, height, format, hasAlpha }).toEqual({ ...size, hasAlpha: false });
  });

  test('has equal bytes for equal drawings, and others for another index or text', async () => {
    const [one, again, otherIndex, otherText] = await Promise.all([
      drawImage(aDrawing()),
      drawImage(aDrawing()),
      drawImage(aDrawing({ index: 1 })),
      drawImage(aDrawing({ text: 'a blue fox' })),
    ]);

    expect(again.equals(one)).toBe(true);
    expect(otherIndex.equals(one)).toBe(false);
    expect(otherText.equals(one)).toBe(false);
  });

  test('shows its text, caption and watermark in white', async () => {
    const white = async (overrides: Parameters<typeof aDrawing>[0]) =>
      countWhite(await drawImage(aDrawing({ width: 1280, height: 800, text: '', ...overrides })));

    const bare = await white({});
    expect(await white({ text: 'MMMM' })).toBeGreaterThan(bare + 50);
    expect(await white({ caption: 'seedream 320x200' })).toBeGreaterThan(bare);
    expect(await white({ watermark: true })).toBeGreaterThan(bare);
  });

  test.each([
    '<script>&"\'',
    '你好 🎨 שלום',
    '\ud800 lone',
    'x'.repeat(5_000),
    '\u0000\u0007',
    'e\u0301\u0327\u20dd',
  ])('accepts any text: %j', async (text) => {
    const { width } = await sharp(await drawImage(aDrawing({ text }))).metadata();

    expect(width).toBe(320);
  });
});

describe('the letters', () => {
  test('cover printable ASCII with distinct shapes', () => {
    const characters = Array.from({ length: 94 }, (_, position) => String.fromCodePoint(33 + position));

    const shapes = characters.map((character) =>
      glyphsOf(character)
        .map(({ svg }) => svg)
        .join(''),
    );

    expect(new Set(shapes).size).toBe(94);
    expect(shapes.filter((shape) => shape.includes('stroke-width'))).toEqual([]);
  });

  test('include accents, precomposed or combining, and typographic punctuation', () => {
    expect(glyphsOf('é')).toEqual(glyphsOf('e\u0301'));
    expect(glyphsOf('é')).not.toEqual(glyphsOf('e'));
    expect(glyphsOf('“a”…')).toEqual(glyphsOf('"a"...'));
    expect(glyphsOf('a\u200db')).toEqual(glyphsOf('ab'));
  });
});

describe('a text block', () => {
  const room = { widthPixels: 300, heightPixels: 100, largestPixels: 20, smallestPixels: 5 };

  test.each([
    ['one word', 'fox'],
    ['many words', 'a quiet harbour at dawn with fishing boats '.repeat(3)],
    ['too many words', 'a quiet harbour at dawn '.repeat(100)],
    ['one endless word', 'x'.repeat(3_000)],
    ['a script without spaces', '你好'.repeat(300)],
  ])('fits its room: %s', (_, text) => {
    const { width, height, svg } = setText(text, room);

    expect(svg).toContain('<path');
    expect(width).toBeLessThanOrEqual(room.widthPixels + 0.01);
    expect(height).toBeLessThanOrEqual(room.heightPixels + 0.01);
  });

  test('is as large as fits', () => {
    expect(setText('fox', room).width).toBeCloseTo(widthOf(glyphsOf('fox')) * 2, 5);
  });
});
