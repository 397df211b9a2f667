import { isObject } from '../http.ts';
import { invalidParameter, modelNotFound } from './errors.ts';
import { optionalChoice, optionalFlag, requiredText } from './fields.ts';
import { DEFAULT_SIZE, findImageModel, type ImageModel } from './image-models.ts';

/** A validated image request. */
export type ArkImageRequest = {
  model: string;
  prompt: string;
  width: number;
  height: number;
  format: 'png' | 'jpeg';
  watermark: boolean;
  referencesCount: number;
  /** Maximum size of the group; absent for a request of one image. */
  maxImages?: number;
  responseFormat: 'url' | 'b64_json';
  hasOutputFormat: boolean;
};

/** Maximum of references and results of a group together. */
const GROUP_LIMIT = 15;

/** Both sides must be longer than this, in pixels. */
const MIN_SIDE_EXCLUSIVE = 14;
/** Maximum of the longer side over the shorter one. */
const MAX_RATIO = 16;

/** Matches the start only: matching megabytes of base64 would overflow the regular expression engine's stack. */
const DATA_URL = /^data:image\/(?:jpeg|png|webp|bmp|tiff|gif|heic|heif);base64,[A-Za-z0-9+/]/;

const readSize = (value: unknown, model: ImageModel) => {
  if (typeof value !== 'string') throw invalidParameter('size', 'a string is required');
  const side = model.tokenSides[value];
  if (side !== undefined) return { width: side, height: side };
  const [, width, height] = (/^(\d{1,5})x(\d{1,5})$/.exec(value) ?? []).map(Number);
  if (width === undefined || height === undefined) {
    throw invalidParameter('size', 'the specified size is not supported for this model');
  }
  const pixels = width * height;
  if (pixels < model.minPixels) {
    throw invalidParameter('size', `image size must be at least ${model.minPixels} pixels`);
  }
  if (pixels > model.maxPixels) {
    throw invalidParameter('size', `image size must be at most ${model.maxPixels} pixels`);
  }
  const [shorter, longer] = width < height ? [width, height] : [height, width];
  if (shorter <= MIN_SIDE_EXCLUSIVE || longer > MAX_RATIO * shorter) {
    throw invalidParameter('size', 'the aspect ratio must be within 1/16 and 16');
  }
  return { width, height };
};

const countReferences = (value: unknown, model: ImageModel): number => {
  const references = value === undefined ? [] : [value].flat();
  if (references.length > model.maxReferences) {
    throw invalidParameter('image', `at most ${model.maxReferences} images are supported`);
  }
  for (const reference of references) {
    const isImage =
      typeof reference === 'string' && (/^https?:\/\/\S/.test(reference) || DATA_URL.test(reference));
    if (!isImage) throw invalidParameter('image', 'expected an http(s) URL or a base64 data URL');
  }
  return references.length;
};

const readMaxImages = (body: Record<string, unknown>, model: ImageModel, referencesCount: number) => {
  const mode = optionalChoice(body, 'sequential_image_generation', ['disabled', 'auto'], 'disabled');
  if (mode === 'disabled') return undefined;
  if (!model.isSequential) {
    throw invalidParameter('sequential_image_generation', 'it is not supported for this model');
  }
  const options = body.sequential_image_generation_options ?? {};
  const maxImages = isObject(options) ? (options.max_images ?? GROUP_LIMIT - referencesCount) : undefined;
  const field = 'sequential_image_generation_options.max_images';
  if (
    typeof maxImages !== 'number' ||
    !Number.isInteger(maxImages) ||
    maxImages < 1 ||
    maxImages > GROUP_LIMIT
  ) {
    throw invalidParameter(field, `expected an integer from 1 to ${GROUP_LIMIT}`);
  }
  if (referencesCount + maxImages > GROUP_LIMIT) {
    throw invalidParameter(field, `input images and output images together must be at most ${GROUP_LIMIT}`);
  }
  return maxImages;
};

/** Validates the body of `POST /images/generations`. Throws `UpstreamError`. Ignores unknown fields. */
export const readImageRequest = (body: Record<string, unknown>): ArkImageRequest => {
  const modelId = requiredText(body, 'model');
  const model = findImageModel(modelId);
  if (!model) throw modelNotFound(modelId);
  const prompt = requiredText(body, 'prompt');
  const size = readSize(body.size ?? DEFAULT_SIZE, model);
  const referencesCount = countReferences(body.image, model);
  const maxImages = readMaxImages(body, model, referencesCount);
  const format = optionalChoice(body, 'output_format', ['jpeg', 'png'], 'jpeg');
  // The sandbox streams no answers; the newest model rejects that upstream as well.
  if (optionalFlag(body, 'stream', false))
    throw invalidParameter('stream', 'it is not supported for this model');
  return {
    model: modelId,
    prompt,
    ...size,
    format: model.hasOutputFormat ? format : 'jpeg',
    hasOutputFormat: model.hasOutputFormat,
    watermark: optionalFlag(body, 'watermark', true),
    referencesCount,
    ...(maxImages !== undefined && { maxImages }),
    responseFormat: optionalChoice(body, 'response_format', ['url', 'b64_json'], 'url'),
  };
};
