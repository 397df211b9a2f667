import { routeText } from '../routes.ts';
import type { CatalogModel, ImageModel, VideoModel } from './model-answers.ts';
import type { Rate } from './rate-schemas.ts';
import { ASPECT_RATIOS, type SizePreset } from './size-presets.ts';

export type { CatalogModel, ImageModel, VideoModel } from './model-answers.ts';

const imageModel = (
  id: string,
  sizePresets: readonly SizePreset[],
  defaultSize: SizePreset,
  explicitSize: ImageModel['explicitSize'],
  { sequential, ...limits }: { maxReferences: number; maxImagesPerRequest: number; sequential: boolean },
): ImageModel => ({
  id,
  type: 'image',
  endpoint: routeText('create-generation'),
  billing: 'per_image',
  sizePresets,
  defaultSize,
  explicitSize,
  aspectRatios: ASPECT_RATIOS,
  ...limits,
  capabilities: { sequential },
});

const videoModel = (
  id: string,
  resolutions: readonly string[],
  durationSec: VideoModel['durationSec'],
  inputs: Pick<VideoModel, 'requiresImage'> & Partial<VideoModel>,
): VideoModel => ({
  id,
  type: 'video',
  endpoint: routeText('create-video'),
  billing: 'per_second',
  resolutions,
  defaultResolution: '1080p',
  durationSec,
  ...inputs,
});

/** Inputs other than the prompt, the same for both 3.0 video models. */
const REFERENCE_INPUTS = {
  requiresImage: false,
  inputModes: ['first_frame', 'last_frame', 'reference_images', 'reference_videos', 'reference_audios'],
  maxReferenceImages: 10,
  maxReferenceVideos: 5,
  maxReferenceAudios: 5,
  ratios: ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'],
  defaultRatio: 'adaptive',
  referenceVideoMaxSeconds: 15,
  maxCombinedSeconds: 30,
} as const;

/** Every model of the service, in the order `GET /v1/models` lists them. The limits are the public contract's. */
export const CATALOG: readonly CatalogModel[] = [
  imageModel(
    'xSD4.5',
    ['2K', '4K'],
    '2K',
    { minTotalPixels: 3_686_400, maxTotalPixels: 16_777_216, minAspectRatio: 0.0625, maxAspectRatio: 16 },
    { maxReferences: 10, maxImagesPerRequest: 15, sequential: true },
  ),
  imageModel(
    'xSD5Pro',
    ['1K', '1.5K', '2K'],
    '2K',
    { minTotalPixels: 921_600, maxTotalPixels: 4_624_220, minAspectRatio: 0.0625, maxAspectRatio: 16 },
    { maxReferences: 10, maxImagesPerRequest: 15, sequential: false },
  ),
  imageModel(
    'xQI3Pro',
    ['1K', '1.5K', '2K'],
    '2K',
    { minTotalPixels: 262_144, maxTotalPixels: 4_194_304, minAspectRatio: 0.125, maxAspectRatio: 8 },
    { maxReferences: 3, maxImagesPerRequest: 6, sequential: false },
  ),
  imageModel(
    'xZI1.0Pro',
    ['1K', '2K'],
    '1K',
    {
      minTotalPixels: 65_536,
      maxTotalPixels: 6_553_600,
      minAspectRatio: 0.1,
      maxAspectRatio: 10,
      minSide: 256,
      maxSide: 2560,
    },
    { maxReferences: 0, maxImagesPerRequest: 1, sequential: false },
  ),
  videoModel('xW2.7S', ['720p', '1080p'], { min: 2, max: 15, default: 5 }, { requiresImage: true }),
  videoModel('xW3.0s', ['480p', '720p', '1080p'], { min: 2, max: 30, default: 5 }, REFERENCE_INPUTS),
  videoModel('xW3.0sPro', ['1080p', '2k', '4k'], { min: 2, max: 30, default: 5 }, REFERENCE_INPUTS),
];

/**
 * The price of a model until the operator sets a rate. The figures are a starting point in proportion to the
 * providers' price lists; they reproduce no provider's price.
 */
export const DEFAULT_RATES: Record<string, Rate> = {
  'xSD4.5': {
    perImage: [
      { maxPixels: 4_194_304, xTokens: 4 },
      { maxPixels: null, xTokens: 6 },
    ],
  },
  xSD5Pro: {
    perImage: [
      { maxPixels: 2_359_296, xTokens: 5 },
      { maxPixels: null, xTokens: 8 },
    ],
  },
  xQI3Pro: {
    perImage: [
      { maxPixels: 2_250_000, xTokens: 4 },
      { maxPixels: null, xTokens: 6 },
    ],
  },
  'xZI1.0Pro': {
    perImage: [
      { maxPixels: 1_048_576, xTokens: 1 },
      { maxPixels: null, xTokens: 2 },
    ],
  },
  'xW2.7S': { perSecond: { '720p': 5, '1080p': 8 } },
  'xW3.0s': { perSecond: { '480p': 3, '720p': 6, '1080p': 10 } },
  'xW3.0sPro': { perSecond: { '1080p': 12, '2k': 20, '4k': 40 } },
};

const byId = new Map(CATALOG.map((model) => [model.id, model]));

/** The model with this id, image or video. */
export const findModel = (id: string): CatalogModel | undefined => byId.get(id);

/** The image model with this id; undefined for a video model too. */
export const findImageModel = (id: string): ImageModel | undefined => {
  const model = byId.get(id);
  return model?.type === 'image' ? model : undefined;
};

/** The video model with this id; undefined for an image model too. */
export const findVideoModel = (id: string): VideoModel | undefined => {
  const model = byId.get(id);
  return model?.type === 'video' ? model : undefined;
};
