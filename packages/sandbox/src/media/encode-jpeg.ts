import { BAND, type Bands } from './bands.ts';

/** Pixels on each side of a block. A band is one block high. */
const BLOCK = BAND;
const QUANTIZATION = Buffer.alloc(64, BLOCK);
/** How many codes of 1 to 16 bits there are for the sizes 0 to 8 of a difference, in Annex K's order. */
const SIZE_CODE_COUNTS = [0, 1, 5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8];
/** One code of one bit, 0: the end of a block. */
const END_CODE_COUNTS = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const END = { value: 0, length: 1 };
const COMPONENTS = [1, 2, 3];

/** Bits to write: a number, and how many of its low bits count. */
interface Bits {
  value: number;
  length: number;
}

/** The codes of a table, by the place of their value: ascending, and shifted where they grow longer. */
const codesOf = (counts: readonly number[]): Bits[] => {
  const codes: Bits[] = [];
  let code = 0;
  for (const [index, count] of counts.entries()) {
    for (let each = 0; each < count; each++) codes.push({ value: code++, length: index + 1 });
    code *= 2;
  }
  return codes;
};
const SIZE_CODES = codesOf(SIZE_CODE_COUNTS);

const segment = (marker: number, ...content: number[]): Buffer => {
  const length = content.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...content]);
};

/** The bits of a block whose mean differs by so much from the one before: the size of the difference, the difference, the end. */
const blockBits = (difference: number): Bits => {
  const size = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
  const code = SIZE_CODES[size];
  if (!code) throw new RangeError(`No code for a difference of ${difference}`);
  // A negative difference is stored as its one's complement.
  const value = difference < 0 ? difference + 2 ** size - 1 : difference;
  return { value: ((code.value << size) | value) << END.length, length: code.length + size + END.length };
};

/** The greatest difference of two means. */
const MAX_DIFFERENCE = 255;
/** The bits of every difference, from the least on. */
const DIFFERENCE_BITS = Array.from({ length: 2 * MAX_DIFFERENCE + 1 }, (_, index) =>
  blockBits(index - MAX_DIFFERENCE),
);

/** The bits of a block with the same mean as the one before. All are 0. */
const SAME_BITS = (DIFFERENCE_BITS[MAX_DIFFERENCE] as Bits).length;

/** Blue and red difference and brightness around 0, as JFIF has them. */
const toComponents = ([red, green, blue]: readonly [number, number, number]): number[] => [
  Math.round(0.299 * red + 0.587 * green + 0.114 * blue) - 128,
  clamp(Math.round(-0.1687 * red - 0.3313 * green + 0.5 * blue)),
  clamp(Math.round(0.5 * red - 0.4187 * green - 0.0813 * blue)),
];
const clamp = (value: number) => Math.max(-128, Math.min(127, value));

/** The first block of a band has at most 18 bits for each component, and every byte of them may be followed by a 0. */
const MAX_FIRST_BYTES = 16;

const scan = ({ width, height, palette, colourOf }: Bands): Buffer => {
  const colours = palette.map(toComponents);
  const bands = Math.ceil(height / BAND);
  const sameBits = (Math.ceil(width / BLOCK) - 1) * COMPONENTS.length * SAME_BITS;
  const bytes = Buffer.alloc(bands * (MAX_FIRST_BYTES + Math.ceil(sameBits / 8)) + 1);
  let length = 0;
  let pending = 0;
  let pendingLength = 0;
  const write = ({ value, length: bits }: Bits) => {
    pending = (pending << bits) | value;
    pendingLength += bits;
    while (pendingLength >= 8) {
      pendingLength -= 8;
      const byte = pending >> pendingLength;
      pending &= (1 << pendingLength) - 1;
      bytes[length++] = byte;
      // So that no marker appears in the data.
      if (byte === 0xff) bytes[length++] = 0;
    }
  };
  const writeZeros = (bits: number) => {
    // The byte under way, and then those that are 0 already.
    write({ value: 0, length: Math.min(bits, 8) });
    const left = pendingLength + Math.max(0, bits - 8);
    length += left >> 3;
    pendingLength = left & 7;
  };
  let before = [0, 0, 0];
  for (let band = 0; band < bands; band++) {
    const colour = colours[colourOf(band)] ?? before;
    for (let component = 0; component < COMPONENTS.length; component++) {
      const mean = colour[component] ?? 0;
      write(DIFFERENCE_BITS[mean - (before[component] ?? 0) + MAX_DIFFERENCE] as Bits);
    }
    before = colour;
    writeZeros(sameBits);
  }
  const padding = (8 - pendingLength) % 8;
  write({ value: (1 << padding) - 1, length: padding });
  return bytes.subarray(0, length);
};

/**
 * Bands as a baseline JPEG (ITU-T T.81) of one-coloured bands: a block holds only the difference of its mean to the block before,
 * followed by the end of the block; all of a band but the first have none. Three components, none subsampled, all with the same tables.
 */
export const encodeJpeg = (bands: Bands): Buffer => {
  const { width, height } = bands;
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    // JFIF 1.1, pixels without a unit, no thumbnail.
    segment(0xe0, ...Buffer.from('JFIF\0', 'latin1'), 1, 1, 0, 0, 1, 0, 1, 0, 0),
    segment(0xdb, 0, ...QUANTIZATION),
    segment(
      ...([0xc0, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, COMPONENTS.length] as const),
      ...COMPONENTS.flatMap((id) => [id, 0x11, 0]),
    ),
    segment(0xc4, 0x00, ...SIZE_CODE_COUNTS, ...SIZES),
    segment(0xc4, 0x10, ...END_CODE_COUNTS, 0),
    segment(0xda, COMPONENTS.length, ...COMPONENTS.flatMap((id) => [id, 0x00]), 0, 63, 0),
    scan(bands),
    Buffer.from([0xff, 0xd9]),
  ]);
};
