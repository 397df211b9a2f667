import { type Glyph, glyphsOf, LINE_UNITS, PEN_UNITS, widthOf } from './stroke-font.ts';

/** A laid-out text: its SVG with the top left corner at the origin, and its size in pixels. */
export type TextBlock = { svg: string; width: number; height: number };

type Room = {
  widthPixels: number;
  heightPixels: number;
  /** Maximum height of a capital letter. */
  largestPixels: number;
  /** Minimum height of a capital letter. */
  smallestPixels: number;
};

const [SPACE] = glyphsOf(' ');
const ELLIPSIS = glyphsOf('...');

/** Longer words (a script without spaces, a URL) are broken rather than shrunk. */
const UNBREAKABLE_GLYPHS = 20;

const splitWord = (word: readonly Glyph[], lineUnits: number): Glyph[][] => {
  const pieces: Glyph[][] = [];
  let piece: Glyph[] = [];
  for (const glyph of word) {
    if (piece.length > 0 && widthOf([...piece, glyph]) > lineUnits) {
      pieces.push(piece);
      piece = [];
    }
    piece.push(glyph);
  }
  return [...pieces, piece];
};

const wrap = (words: readonly (readonly Glyph[])[], lineUnits: number): Glyph[][] => {
  const lines: Glyph[][] = [];
  let line: Glyph[] = [];
  let lineWidth = 0;
  for (const word of words) {
    for (const piece of widthOf(word) > lineUnits ? splitWord(word, lineUnits) : [word]) {
      const spaced = line.length > 0 && SPACE ? [SPACE, ...piece] : piece;
      const addedWidth = spaced.reduce((sum, { advance }) => sum + advance, 0);
      if (line.length > 0 && lineWidth + addedWidth > lineUnits) {
        lines.push(line);
        line = [...piece];
        lineWidth = piece.reduce((sum, { advance }) => sum + advance, 0);
      } else {
        line.push(...spaced);
        lineWidth += addedWidth;
      }
    }
  }
  return line.length > 0 ? [...lines, line] : lines;
};

const lineSvg = (line: readonly Glyph[], lineNumber: number) => {
  let x = 0;
  const glyphs = line.map(({ svg, advance }) => {
    const placed =
      svg === '' ? '' : `<g transform="translate(${x.toFixed(2)} ${lineNumber * LINE_UNITS})">${svg}</g>`;
    x += advance;
    return placed;
  });
  return glyphs.join('');
};

const render = (lines: readonly Glyph[][], scale: number): TextBlock => ({
  svg: `<g transform="scale(${scale.toFixed(4)})" fill="none" stroke-width="${PEN_UNITS}" stroke-linecap="round" stroke-linejoin="round">${lines.map(lineSvg).join('')}</g>`,
  width: Math.max(0, ...lines.map(widthOf)) * scale,
  // Only descenders are below the last baseline, not the gap to a next line.
  height: Math.max(0, lines.length * LINE_UNITS - 4) * scale,
});

/**
 * Lays a text out in a room: wrapped at spaces, as large as fits, and cut with an ellipsis when even the smallest letters
 * do not fit. The stroke colour is inherited from the surrounding SVG.
 */
export const setText = (text: string, room: Room): TextBlock => {
  const words = text
    .split(/\s+/)
    .map(glyphsOf)
    .filter((word) => word.length > 0);
  const widestWord = Math.max(
    0,
    ...words.filter((word) => word.length <= UNBREAKABLE_GLYPHS).map((word) => widthOf(word)),
  );
  const linesThatFit = (scale: number) =>
    Math.max(1, Math.floor((room.heightPixels / scale + 4) / LINE_UNITS));

  for (let capital = room.largestPixels; capital > room.smallestPixels; capital *= 0.88) {
    const scale = capital / 10;
    const lineUnits = room.widthPixels / scale;
    if (widestWord > lineUnits) continue;
    const lines = wrap(words, lineUnits);
    if (lines.length <= linesThatFit(scale)) return render(lines, scale);
  }
  const scale = room.smallestPixels / 10;
  const lines = wrap(words, room.widthPixels / scale);
  const shown = lines.slice(0, linesThatFit(scale));
  if (shown.length < lines.length) shown.push([...(shown.pop() ?? []).slice(0, -3), ...ELLIPSIS]);
  return render(shown, scale);
};
