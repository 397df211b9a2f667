import { asksForVisibleMark } from '../../core/environment.ts';
import { dimensionsOf } from '../../core/models/image-sizes.ts';
import type { ProviderPlan } from '../../core/provider-calls/providers.ts';
import type { ImageRequest } from '../../core/requests/request-rules.ts';

const SYNCHRONOUS_PATH = '/api/v1/services/aigc/multimodal-generation/generation';
const ASYNCHRONOUS_PATH = '/api/v1/services/aigc/image-generation/generation';

/** Whether a model creates images as a task; the others answer synchronously. */
export const hasTasks = (upstreamModel: string): boolean => upstreamModel.startsWith('qwen-image');

/**
 * The one call for an image request. The size is always sent: without it the provider may use the aspect ratio
 * of an input image instead of the preset.
 */
export const planModelStudioImages = (request: ImageRequest, upstreamModel: string): ProviderPlan => {
  const { width, height } = dimensionsOf(request.size, request.aspectRatio);
  const { seed, negativePrompt, promptExtend } = request;
  const tasks = hasTasks(upstreamModel);
  const content = [...request.references.map((image) => ({ image })), { text: request.prompt }];
  const body = {
    model: upstreamModel,
    input: { messages: [{ role: 'user', content }] },
    parameters: {
      size: `${width}*${height}`,
      ...(tasks ? { n: request.images, watermark: asksForVisibleMark() } : {}),
      ...(seed !== undefined && { seed }),
      ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
      ...(promptExtend !== undefined && { prompt_extend: promptExtend }),
    },
  };
  return tasks
    ? {
        mode: 'asynchronous',
        calls: [{ path: ASYNCHRONOUS_PATH, headers: { 'x-dashscope-async': 'enable' }, body }],
      }
    : { mode: 'synchronous', calls: [{ path: SYNCHRONOUS_PATH, headers: {}, body }] };
};
