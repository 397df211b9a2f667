/** The limits of an image model. */
export type ImageModel = {
  /** Size tokens and the side of their square, in pixels. */
  tokenSides: Readonly<Record<string, number>>;
  minPixels: number;
  maxPixels: number;
  maxReferences: number;
  /** Whether the model accepts `sequential_image_generation: auto`. */
  isSequential: boolean;
  /** Whether `output_format` has an effect; otherwise the output is always a JPEG. */
  hasOutputFormat: boolean;
};

/** The size of a request without one. Every model accepts it. */
export const DEFAULT_SIZE = '2K';

const SEEDREAM_4_5: ImageModel = {
  tokenSides: { '2K': 2048, '4K': 4096 },
  minPixels: 3_686_400,
  maxPixels: 16_777_216,
  maxReferences: 14,
  isSequential: true,
  hasOutputFormat: false,
};

const SEEDREAM_5_0_PRO: ImageModel = {
  tokenSides: { '1K': 1024, '1.5K': 1536, '2K': 2048 },
  minPixels: 921_600,
  maxPixels: 4_624_220,
  maxReferences: 10,
  isSequential: false,
  hasOutputFormat: true,
};

/** Any other model of the families gets the widest limits, so a new id works without a change here. */
const OTHER: ImageModel = {
  tokenSides: { '1K': 1024, '1.5K': 1536, '2K': 2048, '4K': 4096 },
  minPixels: 1,
  maxPixels: 16_777_216,
  maxReferences: 14,
  isSequential: true,
  hasOutputFormat: true,
};

/** Finds a model by its id, with the prefixes of BytePlus or Volcengine; undefined when unknown. */
export const findImageModel = (id: string): ImageModel | undefined => {
  if (!/^(?:seedream|dola-seedream|dreamina|doubao)-/.test(id)) return undefined;
  if (id.includes('seedream-4-5')) return SEEDREAM_4_5;
  if (id.includes('seedream-5-0-pro')) return SEEDREAM_5_0_PRO;
  return OTHER;
};
