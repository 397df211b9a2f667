import sharp from 'sharp';
import { pictureOf } from './draw-image.ts';
import { setText } from './text-block.ts';

/** A video to encode. Equal films give equal frames. */
export type Film = {
  /** In pixels, even. */
  width: number;
  /** In pixels, even. */
  height: number;
  /** Whole seconds, one frame each. */
  seconds: number;
  /** Written large across every frame. */
  text: string;
  /** Written small along the lower edge. */
  caption: string;
  watermark: boolean;
};

const RGBA_BYTES = 4;

/** The counter for the upper right corner: its pixels and position. */
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
 * Yields the frames in order as RGBA pixels, row by row: one picture with a running counter. Yields the same buffer each
 * time with only the counter redrawn, because drawing every frame from scratch takes longer than encoding it.
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
