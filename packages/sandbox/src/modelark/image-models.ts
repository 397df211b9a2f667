/** What one image model of ModelArk accepts. */
export type ImageModel = {
  /** The side of the square a size token stands for, by token. */
  tokenSides: Readonly<Record<string, number>>;
  minPixels: number;
  maxPixels: number;
  maxReferences: number;
  /** Whether `sequential_image_generation: auto` is taken. */
  isSequential: boolean;
  /** Whether `output_format` counts; otherwise the output is always a JPEG. */
  hasOutputFormat: boolean;
};

/** Applied when a request names no size; every model takes it. */
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

/** Any other model of the families: the widest limits, so that a new id works before its limits are written here. */
const OTHER: ImageModel = {
  tokenSides: { '1K': 1024, '1.5K': 1536, '2K': 2048, '4K': 4096 },
  minPixels: 1,
  maxPixels: 16_777_216,
  maxReferences: 14,
  isSequential: true,
  hasOutputFormat: true,
};

/** The limits of a model by its id, with any of the prefixes of the two surfaces; undefined when there is no such model. */
export const findImageModel = (id: string): ImageModel | undefined => {
  if (!/^(?:seedream|dola-seedream|dreamina|doubao)-/.test(id)) return undefined;
  if (id.includes('seedream-4-5')) return SEEDREAM_4_5;
  if (id.includes('seedream-5-0-pro')) return SEEDREAM_5_0_PRO;
  return OTHER;
};
