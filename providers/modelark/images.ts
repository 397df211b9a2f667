import { asksForVisibleMark } from '../../core/environment.ts';
import { dimensionsOf } from '../../core/models/image-sizes.ts';
import type { ProviderCall, ProviderPlan } from '../../core/provider-calls/providers.ts';
import type { ImageRequest } from '../../core/requests/request-rules.ts';
import { seedOfCall } from '../seeds.ts';

/**
 * The calls for an image request. The API takes no image count: independent images are identical calls, one
 * each; a sequence is one call that yields up to `images`.
 */
export const planArkImages = (request: ImageRequest, upstreamModel: string): ProviderPlan => {
  const body = {
    model: upstreamModel,
    prompt: request.prompt,
    size: arkSize(request),
    response_format: 'url',
    // The default is a visible watermark.
    watermark: asksForVisibleMark(),
    ...(request.references.length > 0 ? { image: request.references } : {}),
    ...(request.sequential
      ? {
          sequential_image_generation: 'auto',
          sequential_image_generation_options: { max_images: request.images },
        }
      : {}),
  };
  const callOf = (index: number): ProviderCall => ({
    ...{ path: '/images/generations', headers: {} },
    body: { ...body, ...seedOfCall(request, index) },
  });
  return {
    mode: 'synchronous',
    calls: Array.from({ length: request.sequential ? 1 : request.images }, (_, index) => callOf(index)),
  };
};

/**
 * The size for the provider: unchanged with the aspect ratio `auto`, where the provider picks the shape of a preset, else in
 * pixels.
 */
const arkSize = ({ size, aspectRatio }: ImageRequest): string => {
  if (aspectRatio === 'auto') return size;
  const { width, height } = dimensionsOf(size, aspectRatio);
  return `${width}x${height}`;
};
