import { dimensionsOf } from '../../core/models/image-sizes.ts';
import type { ImageRequest } from '../../core/requests/request-rules.ts';
import { seedOfCall } from '../seeds.ts';

/** A call's endpoint below `queue.fal.run` and its body. */
export interface FalInput {
  endpoint: string;
  body: Record<string, unknown>;
}

/** Most images of one call. */
const MAX_IMAGES = 6;
/** Most references and images of one call to Seedream together. */
const MAX_FILES = 15;

/** fal's names of presets whose shape the model picks. Other sizes are sent in pixels. */
const AUTO_SIZES = [
  {
    models: /\/seedream\/v4/,
    names: new Map([
      ['2K', 'auto_2K'],
      ['4K', 'auto_4K'],
    ]),
  },
  {
    models: /\/seedream\/v5/,
    names: new Map([
      ['1K', 'auto_1K'],
      ['2K', 'auto_2K'],
    ]),
  },
] as const;

/**
 * The calls for an image request. `upstreamModel` is the endpoint without its last part, which depends on whether there are
 * references: `fal-ai/bytedance/seedream/v4.5`. Z-Image has one endpoint. More images than a call makes are several calls.
 */
export const falImageInputs = (request: ImageRequest, upstreamModel: string): FalInput[] => {
  const { prompt, references, images, sequential, negativePrompt, promptExtend } = request;
  const isZImage = upstreamModel.includes('z-image');
  const route = references.length > 0 ? '/edit' : '/text-to-image';
  const endpoint = isZImage ? upstreamModel : upstreamModel + route;
  const body = {
    prompt,
    image_size: imageSize(request, upstreamModel),
    ...(references.length > 0 && { image_urls: references }),
    ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
    ...expansionOf(upstreamModel),
    ...(promptExtend !== undefined && { enable_prompt_expansion: promptExtend }),
  };
  if (sequential)
    return [{ endpoint, body: { ...body, ...seedOfCall(request, 0), num_images: 1, max_images: images } }];
  return shares(images, Math.min(MAX_IMAGES, MAX_FILES - references.length)).map((count, index) => ({
    endpoint,
    body: { ...body, ...seedOfCall(request, index), num_images: count },
  }));
};

/** Rewriting the prompt is as at the model's maker; for Z-Image it would cost extra. */
const expansionOf = (upstreamModel: string): Record<string, boolean> => {
  if (upstreamModel.includes('z-image')) return { enable_prompt_expansion: false };
  return upstreamModel.includes('qwen-image') ? { enable_prompt_expansion: true } : {};
};

const imageSize = ({ size, aspectRatio }: ImageRequest, upstreamModel: string): unknown => {
  const names = AUTO_SIZES.find(({ models }) => models.test(upstreamModel))?.names;
  const automatic = aspectRatio === 'auto' ? names?.get(size) : undefined;
  return automatic ?? dimensionsOf(size, aspectRatio);
};

/** A number in parts of at most `most`. */
const shares = (total: number, most: number): number[] =>
  Array.from({ length: Math.ceil(total / most) }, (_, index) => Math.min(most, total - index * most));
