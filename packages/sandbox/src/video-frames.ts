import sharp from 'sharp';
import { pictureOf } from './draw-image.ts';
import { setText } from './text-block.ts';

/** What to film. The same film always gives the same frames. */
export type Film = {
  width: number;
  height: number;
  /** One frame a second. */
  seconds: number;
  /** Written large across every frame. */
  text: string;
  /** Written small along the lower edge. */
  caption: string;
  watermark: boolean;
};

const RGBA_BYTES = 4;

/** A plate with the second on it, for the upper right corner. */
const plateOf = async ({ width, height, seconds }: Film, second: number) => {
  const side = Math.min(width, height);
  const [plateWidth, plateHeight] = [Math.round(side * 0.3), Math.round(side * 0.1)];
  const padding = plateHeight * 0.25;
  const { svg } = setText(`${second} / ${seconds} s`, {
    widthPixels: plateWidth - 2 * padding,
    heightPixels: plateHeight - 2 * padding,
    largestPixels: plateHeight * 0.5,
    smallestPixels: 1,
  });
  const plate = `<svg xmlns="http://www.w3.org/2000/svg" width="${plateWidth}" height="${plateHeight}"><rect width="100%" height="100%"/><g stroke="#fff" transform="translate(${padding} ${padding})">${svg}</g></svg>`;
  const pixels = await sharp(Buffer.from(plate)).ensureAlpha().raw().toBuffer();
  const margin = Math.round(side * 0.05);
  return { pixels, rowBytes: plateWidth * RGBA_BYTES, left: width - plateWidth - margin, top: margin };
};

/**
 * The frames in order, each as RGBA pixels row by row: one picture with the text, and a counter that moves. The same
 * buffer is handed out every time with only the counter drawn anew, as drawing each from scratch would take longer
 * than encoding it.
 */
export async function* framesOf(film: Film): AsyncGenerator<Buffer> {
  const frame = await pictureOf({ ...film, index: 0 })
    .ensureAlpha()
    .raw()
    .toBuffer();
  for (let second = 1; second <= film.seconds; second += 1) {
    const { pixels, rowBytes, left, top } = await plateOf(film, second);
    for (let row = 0; row * rowBytes < pixels.length; row += 1) {
      const at = ((top + row) * film.width + left) * RGBA_BYTES;
      pixels.copy(frame, at, row * rowBytes, (row + 1) * rowBytes);
    }
    yield frame;
  }
}
