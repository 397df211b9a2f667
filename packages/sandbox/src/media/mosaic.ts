import { createHash } from 'node:crypto';

/** Pixels on each side of a tile. */
export const TILE = 8;
const COLOURS = 256;

/** A picture of one-coloured tiles: their places in a palette. Cheap to encode at any size, and without a drawing library. */
export type Mosaic = {
  width: number;
  height: number;
  /** Red, green and blue of each colour, 256 of them. */
  palette: readonly (readonly [red: number, green: number, blue: number])[];
  /** The colour of a tile, by its column and row. */
  colourAt(column: number, row: number): number;
};

/** A gradient whose colours follow from the text. */
export const mosaicOf = (width: number, height: number, text: string): Mosaic => {
  const seed = createHash('sha256').update(text).digest();
  const [from, to] = [seed.subarray(0, 3), seed.subarray(3, 6)];
  const palette = Array.from({ length: COLOURS }, (_, index) => {
    const part = index / (COLOURS - 1);
    const mixed = [0, 1, 2].map((channel) =>
      Math.round((from[channel] ?? 0) * part + (to[channel] ?? 0) * (1 - part)),
    );
    return [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0] as const;
  });
  const tiles = Math.ceil(width / TILE) + Math.ceil(height / TILE);
  const colourAt = (column: number, row: number) => Math.floor(((column + row) * COLOURS) / tiles);
  return { width, height, palette, colourAt };
};
