import { isObject } from '../http.ts';
import { invalidParameter, modelNotFound } from './errors.ts';
import { isFlag, isIntegerWithin, MAX_SEED } from './fields.ts';

/** A validated image request. */
export type StudioImageRequest = {
  family: 'qwen-image' | 'z-image';
  model: string;
  /** Cut at the model's maximum length. */
  prompt: string;
  width: number;
  height: number;
  watermark: boolean;
  inputImagesCount: number;
  /** Number of images. */
  n: number;
};

type Limits = {
  maxInputImages: number;
  maxImages: number;
  /** Characters; the rest of a longer prompt is cut off. Absent for any length. */
  maxPromptLength?: number;
  minSide: number;
  minPixels: number;
  maxPixels: number;
  /** Maximum of the longer side over the shorter one. */
  maxRatio: number;
  /** The size of a request without one. */
  defaultSize: { width: number; height: number };
};

const LIMITS: Record<StudioImageRequest['family'], Limits> = {
  'qwen-image': {
    maxInputImages: 3,
    maxImages: 6,
    minSide: 1,
    minPixels: 512 * 512,
    maxPixels: 2048 * 2048,
    maxRatio: 8,
    defaultSize: { width: 2048, height: 2048 },
  },
  // https://help.aliyun.com/zh/model-studio/z-image-api-reference. It documents the area, not the ratio.
  'z-image': {
    maxInputImages: 0,
    maxImages: 1,
    maxPromptLength: 800,
    minSide: 1,
    minPixels: 512 * 512,
    maxPixels: 2048 * 2048,
    maxRatio: 10,
    defaultSize: { width: 1024, height: 1536 },
  },
};

const familyOf = (model: unknown): StudioImageRequest['family'] => {
  if (typeof model !== 'string' || model === '') throw invalidParameter('Field required: model');
  if (model.startsWith('qwen-image')) return 'qwen-image';
  if (model.startsWith('z-image')) return 'z-image';
  throw modelNotFound(model);
};

const isImageInput = (value: unknown) =>
  typeof value === 'string' &&
  /^(?:https?:\/\/\S|oss:\/\/\S|data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/])/.test(value);

/** The text and the images of the request's only message. */
const readMessage = (input: unknown) => {
  const messages = isObject(input) ? input.messages : undefined;
  if (!Array.isArray(messages) || messages.length !== 1) {
    throw invalidParameter('input.messages must hold exactly one message');
  }
  const [message] = messages;
  if (!isObject(message) || message.role !== 'user' || !Array.isArray(message.content)) {
    throw invalidParameter('input.messages[0] must have the role user and a list as content');
  }
  const items = message.content.filter(isObject);
  const texts = items.map((item) => item.text).filter((text) => text !== undefined);
  const images = items.map((item) => item.image).filter((image) => image !== undefined);
  const [text] = texts;
  if (texts.length !== 1 || typeof text !== 'string' || text === '') {
    throw invalidParameter('input.messages[0].content must hold exactly one text');
  }
  if (texts.length + images.length !== message.content.length) {
    throw invalidParameter('input.messages[0].content may hold texts and images only');
  }
  if (!images.every(isImageInput)) throw invalidParameter('an image must be a URL or a base64 data URL');
  return { prompt: text, inputImagesCount: images.length };
};

const readSize = (value: unknown, limits: Limits) => {
  if (value === undefined) return limits.defaultSize;
  const matched = typeof value === 'string' ? /^(\d{1,5})\*(\d{1,5})$/.exec(value) : null;
  const [, width, height] = (matched ?? []).map(Number);
  if (width === undefined || height === undefined) {
    throw invalidParameter('parameters.size must be of the form width*height');
  }
  const pixels = width * height;
  const [shorter, longer] = width < height ? [width, height] : [height, width];
  const isWithin =
    shorter >= limits.minSide &&
    pixels >= limits.minPixels &&
    pixels <= limits.maxPixels &&
    longer <= limits.maxRatio * shorter;
  if (!isWithin) throw invalidParameter(`parameters.size ${value} is out of the range of this model`);
  return { width, height };
};

/** Validates the body of an image call; both routes take the same. Throws `UpstreamError`. */
export const readImageRequest = (body: Record<string, unknown>): StudioImageRequest => {
  const family = familyOf(body.model);
  const limits = LIMITS[family];
  const message = readMessage(body.input);
  if (message.inputImagesCount > limits.maxInputImages) {
    throw invalidParameter(`the model takes at most ${limits.maxInputImages} input images`);
  }
  const parameters = body.parameters ?? {};
  if (!isObject(parameters)) throw invalidParameter('parameters must be an object');
  const { n = 1, seed = 0, watermark = false } = parameters;
  if (!isIntegerWithin(n, 1, limits.maxImages)) {
    throw invalidParameter(`parameters.n must be an integer from 1 to ${limits.maxImages}`);
  }
  if (!isIntegerWithin(seed, 0, MAX_SEED)) {
    throw invalidParameter(`parameters.seed must be an integer from 0 to ${MAX_SEED}`);
  }
  if (!isFlag(watermark)) throw invalidParameter('parameters.watermark must be a boolean');
  return {
    family,
    model: String(body.model),
    ...message,
    prompt: [...message.prompt].slice(0, limits.maxPromptLength).join(''),
    ...readSize(parameters.size, limits),
    n,
    watermark,
  };
};
