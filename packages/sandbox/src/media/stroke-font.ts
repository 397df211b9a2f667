/**
 * A single-stroke font as SVG paths. The image library draws text with the machine's fonts only, and a bare container has
 * none (every letter becomes the same box).
 *
 * Units: a capital is 10 high, from 0 (top) to the baseline at 10; descenders end at 13. Paths start at x = 0.
 */

/** One character: its SVG elements at the origin, and the distance to the next character, in font units. */
export type Glyph = { svg: string; advance: number };

/** Line height, baseline to baseline, in font units. */
export const LINE_UNITS = 17;

/** Width of the pen, in font units. */
export const PEN_UNITS = 1.1;

const LETTER_GAP_UNITS = 2.4;

const BOWL = 'C5 4.9 4 3.6 2.5 3.6S0 4.9 0 6.8S1 10 2.5 10S5 8.8 5 6.8';
const ROUND = 'M3.6 0C1.4 0 0 2 0 5S1.4 10 3.6 10S7.2 8 7.2 5S5.8 0 3.6 0Z';
const ARCH = 'M0 6C.4 4.5 1.3 3.6 2.6 3.6C4 3.6 4.8 4.5 4.8 6.2V10';
const RIGHT_BOWL = 'M0 6.8C0 4.9 1 3.6 2.5 3.6S5 4.9 5 6.8S4 10 2.5 10S0 8.8 0 6.8';

/** Ink width and path of every printable ASCII character. */
const SHAPES: Record<string, readonly [width: number, path: string]> = {
  ' ': [2, ''],
  '!': [0, 'M0 0V6.5M0 9.9V10'],
  '"': [2, 'M0 0V3M2 0V3'],
  '#': [6, 'M2 1L1 9M5 1L4 9M0 3.5H6M0 6.5H6'],
  $: [
    6,
    'M5.8 2.6C5.4 1.5 4.5 1 3 1C1.1 1 0 1.9 0 3.1C0 6.2 6 4 6 7C6 8.3 4.8 9.1 3 9.1C1.4 9.1 .3 8.5 0 7.4M3 -.6V10.7',
  ],
  '%': [
    7,
    'M1.5 0A1.5 2 0 1 0 1.5 4A1.5 2 0 1 0 1.5 0M5.5 6A1.5 2 0 1 0 5.5 10A1.5 2 0 1 0 5.5 6M6.5 0L.5 10',
  ],
  '&': [7, 'M7 10L1.6 3.4C.6 2 1.2 0 3 0C4.8 0 5.3 2 4 3.3L1.6 5.2C-.6 7 .3 10 3 10C5 10 6.3 8.5 6.6 6'],
  "'": [0, 'M0 0V3'],
  '(': [2, 'M2 -.5Q-1.4 5.5 2 11.5'],
  ')': [2, 'M0 -.5Q3.4 5.5 0 11.5'],
  '*': [4.4, 'M2.2 1V6M0 2.2L4.4 4.8M4.4 2.2L0 4.8'],
  '+': [5, 'M2.5 3V8M0 5.5H5'],
  ',': [1, 'M1 9.6L.2 11.8'],
  '-': [4, 'M0 5.8H4'],
  '.': [0, 'M0 9.9V10'],
  '/': [4, 'M4 -.5L0 11'],
  '0': [6, 'M3 0C1 0 0 2 0 5S1 10 3 10S6 8 6 5S5 0 3 0Z'],
  '1': [2.6, 'M0 2.2L2.6 0V10'],
  '2': [6, 'M.2 2.6C.4 1 1.5 0 3 0C4.8 0 5.8 1.1 5.8 2.7C5.8 5 2.5 7 0 10H6'],
  '3': [
    6,
    'M.3 1.8C.8 .6 1.8 0 3 0C4.7 0 5.6 1 5.6 2.4C5.6 4 4.4 4.7 2.5 4.7C4.7 4.7 6 5.6 6 7.3C6 9 4.8 10 3 10C1.5 10 .4 9.2 0 7.9',
  ],
  '4': [6, 'M4.5 10V0L0 7H6'],
  '5': [6, 'M5.4 0H1L.5 4.6C1.2 4 2 3.7 3 3.7C4.9 3.7 6 5 6 6.8C6 8.7 4.8 10 3 10C1.6 10 .5 9.3 0 8'],
  '6': [
    6,
    'M5.3 1.2C4.7 .4 4 0 3.2 0C1.1 0 0 2.3 0 5.8C0 8.5 1.1 10 3 10C4.8 10 6 8.8 6 7C6 5.2 4.8 4 3 4C1.5 4 .3 4.9 0 6.3',
  ],
  '7': [6, 'M0 0H6L2 10'],
  '8': [
    6,
    'M3 4.7C1.4 4.7 .4 3.8 .4 2.4S1.4 0 3 0S5.6 1 5.6 2.4S4.6 4.7 3 4.7C1.2 4.7 0 5.7 0 7.3S1.2 10 3 10S6 8.9 6 7.3S4.8 4.7 3 4.7Z',
  ],
  '9': [
    6,
    'M.7 8.8C1.3 9.6 2 10 2.8 10C4.9 10 6 7.7 6 4.2C6 1.5 4.9 0 3 0C1.2 0 0 1.2 0 3C0 4.8 1.2 6 3 6C4.5 6 5.7 5.1 6 3.7',
  ],
  ':': [0, 'M0 4.4V4.5M0 9.9V10'],
  ';': [1, 'M.9 4.4V4.5M1 9.6L.2 11.8'],
  '<': [5, 'M5 2.5L0 5.8L5 9'],
  '=': [5, 'M0 4.3H5M0 7.3H5'],
  '>': [5, 'M0 2.5L5 5.8L0 9'],
  '?': [5, 'M0 2.3C.2 .9 1.2 0 2.5 0C4 0 5 1 5 2.4C5 4.5 2.5 4.6 2.5 7M2.5 9.9V10'],
  '@': [
    8.5,
    'M6.2 3.8V6.5C6.2 8 8.5 7.6 8.5 5C8.5 2.2 6.8 .5 4.4 .5C1.8 .5 0 2.6 0 5.5S1.8 10.5 4.5 10.5C5.6 10.5 6.5 10.2 7.2 9.6M6.2 5.6A1.9 2.1 0 1 1 6.2 5.4',
  ],
  A: [7, 'M0 10L3.5 0L7 10M1.2 6.6H5.8'],
  B: [6, 'M0 0V10H3.2C5 10 6 9 6 7.4S5 4.8 3.2 4.8H0M0 0H3C4.6 0 5.4 .9 5.4 2.4S4.6 4.8 3 4.8'],
  C: [6.5, 'M6.5 2.2C6 .8 5 0 3.6 0C1.4 0 0 2 0 5S1.4 10 3.6 10C5 10 6 9.2 6.5 7.8'],
  D: [6.5, 'M0 0V10H2.6C5.1 10 6.5 8.1 6.5 5S5.1 0 2.6 0Z'],
  E: [5.5, 'M5.5 0H0V10H5.5M0 4.8H4.6'],
  F: [5.5, 'M5.5 0H0V10M0 4.8H4.6'],
  G: [6.7, 'M6.5 2.2C6 .8 5 0 3.6 0C1.4 0 0 2 0 5S1.4 10 3.6 10C5.5 10 6.7 8.6 6.7 5.6H3.8'],
  H: [6.5, 'M0 0V10M6.5 0V10M0 4.8H6.5'],
  I: [0, 'M0 0V10'],
  J: [4.5, 'M4.5 0V7C4.5 9 3.7 10 2.2 10S0 9 0 7.4'],
  K: [6.2, 'M0 0V10M6 0L0 6M2.2 3.9L6.2 10'],
  L: [5.2, 'M0 0V10H5.2'],
  M: [8, 'M0 10V0L4 7L8 0V10'],
  N: [6.5, 'M0 10V0L6.5 10V0'],
  O: [7.2, ROUND],
  P: [6, 'M0 10V0H3.2C5 0 6 1 6 2.8S5 5.6 3.2 5.6H0'],
  Q: [7.2, `${ROUND}M4.5 7.5L7.4 10.8`],
  R: [6.2, 'M0 10V0H3.2C5 0 6 1 6 2.8S5 5.6 3.2 5.6H0M3.2 5.6L6.2 10'],
  S: [6, 'M5.7 2.2C5.3 .8 4.4 0 3 0C1.3 0 .2 1 .2 2.5C.2 5.9 6 4 6 7.4C6 9 4.8 10 3 10C1.4 10 .4 9.2 0 7.7'],
  T: [6.4, 'M0 0H6.4M3.2 0V10'],
  U: [6.4, 'M0 0V6.6C0 8.8 1.2 10 3.2 10S6.4 8.8 6.4 6.6V0'],
  V: [6.8, 'M0 0L3.4 10L6.8 0'],
  W: [9, 'M0 0L2.4 10L4.5 1.5L6.6 10L9 0'],
  X: [6.4, 'M0 0L6.4 10M6.4 0L0 10'],
  Y: [6.4, 'M0 0L3.2 5.2L6.4 0M3.2 5.2V10'],
  Z: [6, 'M0 0H6L0 10H6'],
  '[': [2, 'M2 -.5H0V11.5H2'],
  '\\': [4, 'M0 -.5L4 11'],
  ']': [2, 'M0 -.5H2V11.5H0'],
  '^': [4.4, 'M0 4L2.2 0L4.4 4'],
  _: [5, 'M0 11.5H5'],
  '`': [2, 'M0 0L2 2'],
  a: [5, `M5 3.8V10M5 6.8${BOWL}`],
  b: [5, `M0 0V10${RIGHT_BOWL}`],
  c: [4.7, 'M4.7 5.2C4.3 4.2 3.6 3.6 2.6 3.6C1 3.6 0 4.9 0 6.8S1 10 2.6 10C3.6 10 4.3 9.4 4.7 8.4'],
  d: [5, `M5 0V10M5 6.8${BOWL}`],
  e: [5, 'M0 6.6H5C5 4.8 4.1 3.6 2.6 3.6C1 3.6 0 4.9 0 6.8S1 10 2.6 10C3.6 10 4.3 9.5 4.8 8.7'],
  f: [3.3, 'M3.3 .3C2 -.2 1.2 .6 1.2 2V10M0 3.8H3'],
  g: [5, `M5 3.8V10.6C5 12.2 4 13 2.5 13C1.5 13 .8 12.7 .3 12M5 6.8${BOWL}`],
  h: [4.8, `M0 0V10${ARCH}`],
  i: [0, 'M0 3.8V10M0 1.3V1.4'],
  j: [1.6, 'M1.6 3.8V11C1.6 12.4 1 13 0 13M1.6 1.3V1.4'],
  k: [4.7, 'M0 0V10M4.4 3.8L0 7.6M1.7 6.2L4.7 10'],
  l: [1.2, 'M0 0V8.6C0 9.6 .5 10 1.2 10'],
  m: [
    8,
    'M0 3.8V10M0 6C.3 4.5 1.1 3.6 2.2 3.6C3.4 3.6 4 4.5 4 6V10M4 6C4.3 4.5 5.1 3.6 6.2 3.6C7.4 3.6 8 4.5 8 6V10',
  ],
  n: [4.8, `M0 3.8V10${ARCH}`],
  o: [5.2, 'M2.6 3.6C1 3.6 0 4.9 0 6.8S1 10 2.6 10S5.2 8.7 5.2 6.8S4.2 3.6 2.6 3.6Z'],
  p: [5, `M0 3.8V13${RIGHT_BOWL}`],
  q: [5, `M5 3.8V13M5 6.8${BOWL}`],
  r: [3, 'M0 3.8V10M0 6.2C.4 4.6 1.5 3.6 3 3.8'],
  s: [
    4.4,
    'M4.2 5C3.9 4.1 3.2 3.6 2.2 3.6C1 3.6 .2 4.2 .2 5.2C.2 7.4 4.4 6 4.4 8.2C4.4 9.3 3.5 10 2.2 10C1.1 10 .3 9.4 0 8.5',
  ],
  t: [3.2, 'M1.2 1.4V8.2C1.2 9.6 2 10.2 3.2 9.9M0 3.8H3'],
  u: [4.8, 'M0 3.8V7.4C0 9.1 .8 10 2.2 10C3.5 10 4.4 9.1 4.8 7.6M4.8 3.8V10'],
  v: [5, 'M0 3.8L2.5 10L5 3.8'],
  w: [7.4, 'M0 3.8L1.9 10L3.7 4.6L5.5 10L7.4 3.8'],
  x: [4.8, 'M0 3.8L4.8 10M4.8 3.8L0 10'],
  y: [5, 'M0 3.8L2.6 10M5 3.8L2.2 11.2C1.7 12.5 1.1 13 0 13'],
  z: [4.6, 'M0 3.8H4.6L0 10H4.6'],
  '{': [3, 'M3 -.5C1.5 -.5 1.5 .5 1.5 2V4C1.5 5 1 5.5 0 5.5C1 5.5 1.5 6 1.5 7V9C1.5 10.5 1.5 11.5 3 11.5'],
  '|': [0, 'M0 -.5V11.5'],
  '}': [3, 'M0 -.5C1.5 -.5 1.5 .5 1.5 2V4C1.5 5 2 5.5 3 5.5C2 5.5 1.5 6 1.5 7V9C1.5 10.5 1.5 11.5 0 11.5'],
  '~': [5.5, 'M0 6.4C.8 4.6 1.8 4.6 2.75 5.6S4.7 6.6 5.5 4.8'],
};

/** Accents, centred on x = 0, with their lower edge at y = 0. The cedilla, which hangs from the baseline, is separate. */
const ACCENTS: Record<string, string> = {
  '\u0300': 'M-1.2 -2L.6 -.2',
  '\u0301': 'M1.2 -2L-.6 -.2',
  '\u0302': 'M-1.5 -.2L0 -1.9L1.5 -.2',
  '\u0303': 'M-1.8 -.5C-1.2 -1.8 -.6 -1.4 0 -.9S1.2 -.2 1.8 -1.4',
  '\u0304': 'M-1.6 -.9H1.6',
  '\u0308': 'M-1.3 -1.1V-1M1.3 -1.1V-1',
  '\u030a': 'M0 -2.4A1.1 1.1 0 1 0 0 -.2A1.1 1.1 0 1 0 0 -2.4',
  '\u030c': 'M-1.5 -1.9L0 -.2L1.5 -1.9',
};
const CEDILLA = '\u0327';

/** Typographic punctuation and the ASCII it is drawn as. */
const ASCII_PUNCTUATION: Record<string, string> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '…': '...',
  '×': 'x',
  '•': '*',
  '·': '-',
  '\u00a0': ' ',
};

const pathElement = (path: string) => (path === '' ? '' : `<path d="${path}"/>`);

/** A box with the hexadecimal code point of a character that this font lacks. */
const codePointBox = (character: string): Glyph => {
  const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0').split('');
  const columns = Math.ceil(digits.length / 2);
  const width = columns * 2.7 + 1.4;
  const cells = digits.map((digit, position) => {
    const x = 1.2 + (position % columns) * 2.7;
    const y = position < columns ? 1.4 : 5.6;
    return `<path transform="translate(${x.toFixed(2)} ${y}) scale(.3)" stroke-width="2" d="${SHAPES[digit]?.[1] ?? ''}"/>`;
  });
  const frame = `<path stroke-width=".5" d="M0 0H${width.toFixed(2)}V10H0Z"/>`;
  return { svg: frame + cells.join(''), advance: width + LETTER_GAP_UNITS };
};

const glyphOf = (base: string, accents: readonly string[]): Glyph => {
  const shape = SHAPES[base];
  if (!shape) return codePointBox(base);
  const [width, path] = shape;
  const isTall = /[A-Zbdfhkl]/.test(base);
  // An accent replaces the dot of an i.
  const body = base === 'i' && accents.length > 0 ? 'M0 3.8V10' : path;
  const marks = accents.map((accent) =>
    accent === CEDILLA
      ? `<path transform="translate(${width / 2} 10)" d="M0 .4L-.2 1.4C1.2 1.4 1.2 3 -.8 2.8"/>`
      : `<path transform="translate(${width / 2} ${isTall ? -1 : 2.6})" d="${ACCENTS[accent] ?? ''}"/>`,
  );
  return { svg: pathElement(body) + marks.join(''), advance: width + LETTER_GAP_UNITS };
};

/**
 * The glyphs of a text, in order. Latin letters take the common accents; any other character becomes a box with its code
 * point. Other combining marks, control and format characters are dropped.
 */
export const glyphsOf = (text: string): Glyph[] => {
  const plain = text.replace(
    /[‘’“”«»–—−…×•·\u00a0]/g,
    (character) => ASCII_PUNCTUATION[character] ?? character,
  );
  const clusters = plain.normalize('NFD').matchAll(/(?<base>\P{M})(?<marks>\p{M}*)/gu);
  return Array.from(clusters).flatMap(({ groups }) => {
    const base = groups?.base ?? '';
    if (/^[\p{Cc}\p{Cf}]$/u.test(base)) return [];
    const accents = Array.from(groups?.marks ?? '').filter((mark) => mark in ACCENTS || mark === CEDILLA);
    return [glyphOf(base, accents)];
  });
};

/** The width of a run of glyphs in font units, without the gap after the last one. */
export const widthOf = (glyphs: readonly Glyph[]): number =>
  Math.max(0, glyphs.reduce((sum, { advance }) => sum + advance, 0) - LETTER_GAP_UNITS);
