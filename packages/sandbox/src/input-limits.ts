/** A model's limits on the files that a call names. Sizes in bytes, sides in pixels, times in seconds. */
export type InputLimits = {
  image?: {
    maxBytes: number;
    minSide?: number;
    maxSide?: number;
    /** Width times height. */
    maxPixels?: number;
    /** Of the longer side over the shorter one. */
    maxRatio: number;
    formats: readonly string[];
    /** The formats that may have no alpha channel. */
    opaque?: readonly string[];
  };
  video?: { maxBytes: number; minSeconds: number; maxSeconds: number; maxTotalSeconds: number } & Partial<{
    minFramesPerSecond: number;
    minSide: number;
    maxSide: number;
  }>;
  audio?: { maxBytes: number; minSeconds: number; maxSeconds: number; maxTotalSeconds: number };
};

const MEGABYTE = 1024 * 1024;

/** Formats of images at ModelArk. AVIF is none of them, though its container is that of HEIF. */
const ARK_FORMATS = ['jpeg', 'png', 'webp', 'bmp', 'tiff', 'gif', 'heif'];

/** Seedream 4.5 and 5.0 Pro: <= 30 MB, <= 36 megapixels, sides > 14 px, ratio 1/16..16 (ModelArk, image generation; docs/82379/1541523). */
const SEEDREAM: InputLimits = {
  image: {
    maxBytes: 30 * MEGABYTE,
    minSide: 15,
    maxPixels: 36_000_000,
    maxRatio: 16,
    formats: ARK_FORMATS,
  },
};

/** Seedance 2.0: images 300-6000 px and ratio 0.4-2.5, videos and audio 2-15 s, 15 s in total (ModelArk, Seedance 2.0). */
const SEEDANCE_2_0: InputLimits = {
  image: {
    maxBytes: 30 * MEGABYTE,
    minSide: 300,
    maxSide: 6_000,
    maxRatio: 2.5,
    formats: ARK_FORMATS,
  },
  video: { maxBytes: 200 * MEGABYTE, minSeconds: 2, maxSeconds: 15, maxTotalSeconds: 15 },
  audio: { maxBytes: 15 * MEGABYTE, minSeconds: 2, maxSeconds: 15, maxTotalSeconds: 15 },
};

/** Qwen-Image 3.0: <= 10 MB; sides of 384-2048 px are advised, not demanded (Model Studio, Qwen-Image generation and editing). */
const QWEN_IMAGE: InputLimits = {
  image: {
    maxBytes: 10 * MEGABYTE,
    maxRatio: Number.POSITIVE_INFINITY,
    formats: ['jpeg', 'png', 'webp', 'bmp', 'tiff', 'gif'],
  },
};

const WAN_IMAGE = {
  maxBytes: 20 * MEGABYTE,
  minSide: 240,
  maxSide: 8_000,
  maxRatio: 8,
  formats: ['jpeg', 'png', 'bmp', 'webp'],
  opaque: ['png'],
} as const;

/** Wan 2.7: a first clip of 2-10 s, driving audio of 2-30 s (Model Studio, image to video). */
const WAN_2_7: InputLimits = {
  image: WAN_IMAGE,
  video: { maxBytes: 100 * MEGABYTE, minSeconds: 2, maxSeconds: 10, maxTotalSeconds: 10 },
  audio: { maxBytes: 15 * MEGABYTE, minSeconds: 2, maxSeconds: 30, maxTotalSeconds: 30 },
};

/** Wan 3.0: videos and audio of 1-15 s each and 15 s in total, >= 16 fps, sides 240-4096 px (Model Studio, Wan 3.0 video generation). */
const WAN_3_0: InputLimits = {
  image: WAN_IMAGE,
  video: {
    maxBytes: 100 * MEGABYTE,
    minSeconds: 1,
    maxSeconds: 15,
    maxTotalSeconds: 15,
    minFramesPerSecond: 16,
    minSide: 240,
    maxSide: 4_096,
  },
  audio: { maxBytes: 15 * MEGABYTE, minSeconds: 1, maxSeconds: 15, maxTotalSeconds: 15 },
};

/** The limits of a model by its id, of every upstream; none for a model that is not listed. */
export const inputLimitsOf = (model: unknown): InputLimits => {
  const id = String(model);
  if (id.includes('seedream')) return SEEDREAM;
  if (id.includes('seedance-2-0')) return SEEDANCE_2_0;
  if (/^(alibaba\/)?qwen-image/.test(id)) return QWEN_IMAGE;
  if (id.startsWith('wan2.7') || id.includes('/wan/v2.7')) return WAN_2_7;
  return id.startsWith('wan3.0') || id.startsWith('alibaba/wan-3.0') || id === 'sandbox-xw3-pro'
    ? WAN_3_0
    : {};
};
