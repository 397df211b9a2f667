/** The shorter side of a video, in pixels, by its resolution in lower case. */
const SHORT_SIDES = { '480p': 480, '720p': 720, '1080p': 1080, '2k': 1440, '4k': 2160 } as const;

/** A resolution in lower case. Model Studio uses upper case on the wire. */
export type Resolution = keyof typeof SHORT_SIDES;

/** Width to height, such as `16:9`. */
export type Ratio = (typeof RATIOS)[number];

/** All ratios the upstreams accept, except `adaptive`. */
export const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;

/** The ratio used for `adaptive`. A real upstream takes the ratio of the input media, which the sandbox never fetches. */
export const ADAPTIVE_RATIO: Ratio = '16:9';

/**
 * The size of a video in pixels: the resolution gives the short side, the ratio the long side, rounded to an even number
 * for the encoder. Portrait is the transpose.
 *
 * | | 16:9 | 4:3 | 1:1 | 21:9 |
 * |---|---|---|---|---|
 * | 480p | 854x480 | 640x480 | 480x480 | 1120x480 |
 * | 720p | 1280x720 | 960x720 | 720x720 | 1680x720 |
 * | 1080p | 1920x1080 | 1440x1080 | 1080x1080 | 2520x1080 |
 * | 2k | 2560x1440 | 1920x1440 | 1440x1440 | 3360x1440 |
 * | 4k | 3840x2160 | 2880x2160 | 2160x2160 | 5040x2160 |
 */
export const videoSizeOf = (resolution: Resolution, ratio: Ratio): { width: number; height: number } => {
  const short = SHORT_SIDES[resolution];
  const [across = 1, down = 1] = ratio.split(':').map(Number);
  const long = 2 * Math.round((short * Math.max(across, down)) / Math.min(across, down) / 2);
  return across >= down ? { width: long, height: short } : { width: short, height: long };
};
