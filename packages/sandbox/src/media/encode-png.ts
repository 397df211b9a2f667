import { crc32, deflateSync } from 'node:zlib';
import { BAND, type Bands } from './bands.ts';

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

/** Bands as a PNG with a palette. */
export const encodePng = ({ width, height, palette, colourOf }: Bands): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BITS_PER_PIXEL, PALETTE], 8);
  // Each row is preceded by its filter. The first row of a band has none, the others no difference to the row above.
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    const start = y * (width + 1);
    if (y % BAND === 0) rows.fill(colourOf(y / BAND), start + 1, start + 1 + width);
    else rows[start] = UP;
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
