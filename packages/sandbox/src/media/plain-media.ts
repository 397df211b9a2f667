import mp4 from 'h264-mp4-encoder';
import { BAND, type Bands, bandsOf } from './bands.ts';
import { encodeJpeg } from './encode-jpeg.ts';
import { encodePng } from './encode-png.ts';
import type { Media } from './media.ts';

/** The encoder's range is 0 (best quality) to 10 (fastest). */
const FASTEST = 10;
/** Height of the bar that grows along the lower edge of a video, in pixels. */
const BAR = 16;
const WHITE = 0xffffffff;

/** The pixels of bands, row by row: red, green, blue, alpha. */
const pixelsOf = ({ width, height, palette, colourOf }: Bands): Uint32Array => {
  const pixels = new Uint32Array(width * height);
  const colours = palette.map(([red, green, blue]) => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0);
  for (let y = 0; y < height; y += BAND) {
    pixels.fill(colours[colourOf(y / BAND)] ?? 0, y * width, (y + BAND) * width);
  }
  return pixels;
};

/** Files without writing on them, made without native libraries: small, and the same on every machine. */
export const PLAIN_MEDIA: Media = {
  async drawImage({ width, height, text, index, format }) {
    const bands = bandsOf(width, height, `${index}\n${text}`);
    return format === 'png' ? encodePng(bands) : encodeJpeg(bands);
  },

  async encodeVideo({ width, height, seconds, text }) {
    const encoder = await mp4.createH264MP4Encoder();
    Object.assign(encoder, { width, height, frameRate: 1, speed: FASTEST });
    const { now } = Date;
    // The encoder writes the current time into the file. Nothing else runs until it is read.
    Date.now = () => 0;
    try {
      encoder.initialize();
      const pixels = pixelsOf(bandsOf(width, height, text));
      for (let second = 1; second <= seconds; second++) {
        const end = Math.floor((width * second) / seconds);
        for (let y = height - BAR; y < height; y++) pixels.fill(WHITE, y * width, y * width + end);
        encoder.addFrameRgba(Buffer.from(pixels.buffer));
      }
      encoder.finalize();
      return Buffer.from(encoder.FS.readFile(encoder.outputFilename));
    } finally {
      Date.now = now;
      encoder.delete();
    }
  },
};
