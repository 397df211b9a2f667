import { createCallCounter } from '../call-counter.ts';
import { type Capacity, createCreationLimiter } from '../capacity.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import { garbled } from '../garbled.ts';
import type { Handler } from '../http.ts';
import { addImageOutput, drawOutput } from '../image-outputs.ts';
import type { Outputs } from '../outputs.ts';
import { pretendToWork } from '../pretend-work.ts';
import { inputTextSensitive, internalServiceError, outputImageSensitive, tooManyCalls } from './errors.ts';
import { type ArkImageRequest, readImageRequest } from './image-request.ts';

const refusalOf = ({ fail, delaySeconds = 0 }: Directives) => {
  if (fail === 'provider_error') return internalServiceError();
  // With a delay moderation rejects the image, without one the prompt.
  if (fail === 'content_policy') return delaySeconds > 0 ? outputImageSensitive() : inputTextSensitive();
  return undefined;
};

/** One image of an answer, by URL or as Base64, as the request asks. */
const imageOf = async (
  outputs: Outputs,
  request: ArkImageRequest,
  { directives, index }: { directives: Directives; index: number },
) => {
  const image = { ...request, directives };
  return {
    ...(request.responseFormat === 'url'
      ? { url: addImageOutput(outputs, image, index) }
      : { b64_json: (await drawOutput(outputs.media, image, index)).toString('base64') }),
    size: `${request.width}x${request.height}`,
    ...(request.hasOutputFormat && { output_format: request.format }),
  };
};

/**
 * `POST /api/v3/images/generations`: responds when the images are ready.
 *
 * Outside groups ModelArk makes one image per call, so a caller repeats a prompt to get several. `[flaky=…]` therefore
 * counts calls by model and prompt, and the k-th successful call of a model and prompt (from 0) makes the output with
 * index k, for `[broken=k]`. In a group (`sequential_image_generation: auto`) the index is the position in the group.
 */
export const createImageHandler = ({
  outputs,
  now,
  capacity,
}: {
  outputs: Outputs;
  now: () => number;
  capacity?: Capacity | undefined;
}): Handler => {
  const limiter = createCreationLimiter(now, capacity);
  const earlierImages = createCallCounter();

  const indexesOf = ({ maxImages }: ArkImageRequest, { images }: Directives, key: string): number[] =>
    maxImages === undefined
      ? [earlierImages.next(key)]
      : Array.from({ length: Math.min(maxImages, images ?? maxImages) }, (_, index) => index);

  return async ({ body, signal }) => {
    const request = readImageRequest(body);
    const { model, prompt, width, height } = request;
    const directives = parseDirectives(prompt);
    const key = `${model}\n${prompt}`;

    const tooMany = limiter.refusalOf({ model, prompt, directives });
    if (tooMany) throw tooManyCalls(tooMany);
    await limiter.during({ model, prompt, directives }, tooManyCalls, () =>
      pretendToWork(directives, signal),
    );
    const refusal = refusalOf(directives);
    if (refusal) throw refusal;

    const indexes = indexesOf(request, directives, key);
    const made = indexes.filter((index) => !directives.refusedOutputs.has(index));
    if (made.length === 0) throw outputImageSensitive();
    const { code, message } = outputImageSensitive();
    const data = await Promise.all(
      indexes.map(async (index) => {
        // Of a group, moderation refuses one image and goes on.
        if (directives.refusedOutputs.has(index)) return { error: { code, message } };
        return imageOf(outputs, request, { directives, index });
      }),
    );
    const outputTokens = Math.floor((made.length * width * height) / 256);
    const answer = {
      model,
      created: Math.floor(now() / 1000),
      data,
      usage: {
        generated_images: made.length,
        output_tokens: outputTokens,
        total_tokens: outputTokens,
        ...(request.referencesCount > 0 && { input_images: request.referencesCount }),
      },
    };
    return garbled(answer, 'creation', directives);
  };
};
