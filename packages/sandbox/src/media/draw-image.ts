import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import { createLimiter } from '../limiter.ts';
import { setText } from './text-block.ts';

/** What to draw. */
export type Picture = {
  /** In pixels. */
  width: number;
  /** In pixels. */
  height: number;
  /** Written large across the picture. */
  text: string;
  /** Written small along the lower edge. */
  caption: string;
  /** Varies colours and shapes, so that the outputs of one prompt differ. */
  index: number;
  /** Adds a visible mark, as some upstreams do. */
  watermark: boolean;
};

/** A picture and its file format. Equal drawings give equal bytes. */
export type Drawing = Picture & { format: 'png' | 'jpeg' };

/** Longer text is cut: it would be illegible and slow to lay out. */
const MAX_TEXT_LENGTH = 2_000;

// No drawing repeats, so a cache would waste memory. One thread each limits two concurrent drawings to two cores.
sharp.cache(false);
sharp.concurrency(1);
const atMostTwoAtOnce = createLimiter(2);

/** A deterministic generator of numbers from 0 (inclusive) to 1 (exclusive): mulberry32 over a digest of the seed. */
const randomNumbers = (seed: string) => {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** The path of a range of hills across the whole width, from `top` down to the lower edge. */
const hills = (width: number, height: number, top: number, random: () => number) => {
  const waves = 3;
  const step = width / waves;
  const rise = height * (0.05 + random() * 0.07);
  const crests = Array.from({ length: waves }, (_, wave) => {
    const middle = (wave + 0.5) * step;
    const y = top + (wave % 2 === 0 ? -rise : rise) * (0.6 + random() * 0.4);
    return `Q${middle.toFixed(1)} ${y.toFixed(1)} ${((wave + 1) * step).toFixed(1)} ${(top + (random() - 0.5) * rise).toFixed(1)}`;
  });
  return `M0 ${height}V${top.toFixed(1)}${crests.join('')}V${height}Z`;
};

/** A sky, a sun and four ranges of hills in neighbouring colours. */
const background = ({ width, height, text, index }: Picture) => {
  const random = randomNumbers(`${index}\n${text}`);
  const hue = Math.floor(random() * 360);
  const warm = (hue + 30 + Math.floor(random() * 60)) % 360;
  const side = Math.min(width, height);
  const sun = {
    x: width * (0.15 + random() * 0.7),
    y: height * (0.14 + random() * 0.2),
    r: side * (0.07 + random() * 0.08),
  };
  const ranges = [0, 1, 2, 3].map((range) => {
    const top = height * (0.46 + range * 0.14);
    return `<path fill="hsl(${(hue + range * 9) % 360},45%,${44 - range * 9}%)" d="${hills(width, height, top, random)}"/>`;
  });
  return `<defs><linearGradient id="sky" x1="0" y1="0" x2="${random().toFixed(2)}" y2="1"><stop offset="0" stop-color="hsl(${hue},60%,32%)"/><stop offset="1" stop-color="hsl(${warm},75%,74%)"/></linearGradient></defs>
<rect width="${width}" height="${height}" fill="url(#sky)"/>
<circle cx="${sun.x.toFixed(1)}" cy="${sun.y.toFixed(1)}" r="${sun.r.toFixed(1)}" fill="hsl(${warm},90%,88%)"/>
${ranges.join('\n')}`;
};

const at = (x: number, y: number, svg: string) =>
  `<g transform="translate(${x.toFixed(1)} ${y.toFixed(1)})">${svg}</g>`;

const writing = ({ width, height, text, caption, watermark }: Picture) => {
  const side = Math.min(width, height);
  const margin = side * 0.07;
  const padding = side * 0.035;
  const block = setText(text.slice(0, MAX_TEXT_LENGTH), {
    widthPixels: width - 2 * (margin + padding),
    heightPixels: height * 0.6,
    largestPixels: side * 0.07,
    smallestPixels: Math.max(4, side * 0.012),
  });
  const small = (words: string, room: number) =>
    setText(words, {
      widthPixels: room,
      heightPixels: side * 0.04,
      largestPixels: side * 0.02,
      smallestPixels: side * 0.008,
    });
  const top = (height - block.height) / 2;
  const panel = `<rect x="${(margin).toFixed(1)}" y="${(top - padding).toFixed(1)}" width="${(block.width + 2 * padding).toFixed(1)}" height="${(block.height + 2 * padding).toFixed(1)}" rx="${padding.toFixed(1)}" fill="#000" fill-opacity=".45" stroke="none"/>`;
  const footer = small(caption, width * 0.6);
  const mark = small('AI generated', width * 0.3);
  return [
    block.width > 0 ? panel + at(margin + padding, top, block.svg) : '',
    at(margin, height - margin / 2 - footer.height, footer.svg),
    watermark ? at(width - margin - mark.width, height - margin / 2 - mark.height, mark.svg) : '',
  ].join('');
};

const svgOf = (drawing: Picture) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${drawing.width}" height="${drawing.height}">${background(drawing)}<g stroke="#fff">${writing(drawing)}</g></svg>`;

/** A lazy, opaque picture of exactly the given size, for the caller to encode. */
export const pictureOf = (picture: Picture): Sharp => sharp(Buffer.from(svgOf(picture))).removeAlpha();

/**
 * Draws an image of exactly the given size and returns the encoded bytes. Runs off the event loop, at most two drawings
 * at a time in this process.
 */
export const drawImage = (drawing: Drawing): Promise<Buffer> =>
  atMostTwoAtOnce(() => {
    const picture = pictureOf(drawing);
    return drawing.format === 'png'
      ? picture.png({ compressionLevel: 1 }).toBuffer()
      : picture.jpeg({ quality: 80 }).toBuffer();
  });
