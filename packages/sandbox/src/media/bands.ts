import { createHash } from 'node:crypto';

/** Rows of pixels in a band. */
export const BAND = 8;
const COLOURS = 256;

/** A picture of one-coloured bands from edge to edge: their places in a palette. Cheap to encode at any size, and without a drawing library. */
export type Bands = {
  width: number;
  height: number;
  /** Red, green and blue of each colour, 256 of them. */
  palette: readonly (readonly [red: number, green: number, blue: number])[];
  /** The colour of a band, from the top one, 0, on. */
  colourOf(band: number): number;
};

/** A gradient whose colours follow from the text. */
export const bandsOf = (width: number, height: number, text: string): Bands => {
  const seed = createHash('sha256').update(text).digest();
  const [from, to] = [seed.subarray(0, 3), seed.subarray(3, 6)];
  const palette = Array.from({ length: COLOURS }, (_, index) => {
    const part = index / (COLOURS - 1);
    const mixed = [0, 1, 2].map((channel) =>
      Math.round((from[channel] ?? 0) * part + (to[channel] ?? 0) * (1 - part)),
    );
    return [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0] as const;
  });
  const count = Math.ceil(height / BAND);
  return { width, height, palette, colourOf: (band) => Math.floor((band * COLOURS) / count) };
};
