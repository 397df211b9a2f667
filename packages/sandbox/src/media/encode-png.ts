import { crc32, deflateSync } from 'node:zlib';
import { type Mosaic, TILE } from './mosaic.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS_PER_PIXEL = 8;
const PALETTE = 3;
/** The filter that stores a row as its difference to the row above. */
const UP = 2;

const chunk = (type: string, content: Buffer): Buffer => {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
};

/** A mosaic as a PNG with a palette. */
export const encodePng = ({ width, height, palette, colourAt }: Mosaic): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BITS_PER_PIXEL, PALETTE], 8);
  // Each row is preceded by its filter. The first row of tiles has none, the others no difference to the row above.
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    const start = y * (width + 1) + 1;
    if (y % TILE !== 0) {
      rows[start - 1] = UP;
      continue;
    }
    for (let x = 0; x < width; x += TILE) {
      rows.fill(colourAt(x / TILE, y / TILE), start + x, start + Math.min(x + TILE, width));
    }
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
