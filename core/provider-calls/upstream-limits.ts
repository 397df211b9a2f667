import * as z from 'zod/mini';
import type { CatalogModel, ImageModel } from '../models/catalog.ts';
import {
  type Dimensions,
  dimensionsOf,
  exampleSize,
  figure,
  knownDimensions,
} from '../models/image-sizes.ts';
import { givenParameters, PARAMETERS, type Parameter } from '../models/model-parameters.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { type FileLimits, INPUT_TYPES, InputLimits } from './input-limits.ts';

const count = () => z.optional(z.int().check(z.gte(1)));

/** Limits of an upstream model that are stricter than the catalog. Absent: the limit of the catalog. */
export const UpstreamLimits = z.strictObject({
  /** Characters of a prompt; the upstream cuts off the rest. */
  promptCharacters: count(),
  /** Width times height of an image. */
  minPixels: count(),
  maxPixels: count(),
  /** Images of a request, and of a sequential group. */
  images: count(),
  groupImages: count(),
  /** Reference images; 0: it takes none. */
  references: z.optional(z.int().check(z.gte(0))),
  resolutions: z.optional(z.array(z.string())),
  ratios: z.optional(z.array(z.string())),
  /** Seconds of a video. */
  minSeconds: count(),
  maxSeconds: count(),
  /** Seconds of all reference videos together. */
  referenceVideosSeconds: count(),
  /** The parameters that it takes; absent: none. */
  parameters: z.optional(z.array(z.enum(PARAMETERS))),
  /** Input files. A file that no route of its model takes is refused before any debit. */
  inputs: z.optional(InputLimits),
  /** It is served at hosts of a Model Studio workspace only, not at the hosts that all share. */
  workspaceHost: z.optional(z.boolean()),
});
export type UpstreamLimits = z.infer<typeof UpstreamLimits>;

const MEGABYTE = 1024 * 1024;
const ALL_IMAGES = Object.keys(INPUT_TYPES.image);
const VIDEOS = Object.keys(INPUT_TYPES.video);
const AUDIOS = Object.keys(INPUT_TYPES.audio);

/** Seedream 4.5 and 5.0 Pro: https://docs.byteplus.com/en/docs/ModelArk/1541523 */
const SEEDREAM_INPUTS: InputLimits = {
  image: { types: ALL_IMAGES, maxBytes: 30 * MEGABYTE, minSide: 15, maxPixels: 36_000_000, maxRatio: 16 },
};

/** Qwen-Image 3.0; sides of 384 to 2,048 pixels are advised, not demanded. */
const QWEN_INPUTS: InputLimits = {
  image: {
    types: ALL_IMAGES.filter((type) => !/hei[cf]$/.test(type)),
    maxBytes: 10 * MEGABYTE,
  },
};

const QWEN_PARAMETERS: Parameter[] = ['seed', 'negativePrompt', 'promptExtend'];

const WAN_IMAGES: FileLimits = {
  types: ['image/jpeg', 'image/png', 'image/bmp', 'image/webp'],
  ...{ maxBytes: 20 * MEGABYTE, minSide: 240, maxSide: 8_000, maxRatio: 8, alpha: false },
};
const WAN_2_7: UpstreamLimits = {
  parameters: ['seed', 'negativePrompt', 'promptExtend'],
  inputs: { image: WAN_IMAGES },
};

const WAN_3_INPUTS: InputLimits = {
  image: WAN_IMAGES,
  video: {
    types: VIDEOS,
    ...{ maxBytes: 100 * MEGABYTE, minSide: 240, maxSide: 4_096, minFramesPerSecond: 16 },
    ...{ minSeconds: 1, maxSeconds: 15 },
  },
  audio: {
    types: AUDIOS,
    ...{ maxBytes: 15 * MEGABYTE, minSeconds: 1, maxSeconds: 15, maxTotalSeconds: 15 },
  },
};

/** Seedance 2.0: https://docs.byteplus.com/en/docs/ModelArk/1520757 */
const SEEDANCE_INPUTS: InputLimits = {
  image: {
    types: ALL_IMAGES,
    ...{ maxBytes: 30 * MEGABYTE, minSide: 300, maxSide: 6_000, maxRatio: 2.5 },
  },
  video: { types: VIDEOS, minSeconds: 2, maxSeconds: 15 },
  audio: {
    types: AUDIOS,
    ...{ maxBytes: 15 * MEGABYTE, minSeconds: 2, maxSeconds: 15, maxTotalSeconds: 15 },
  },
};

/** Wan 3.0 in both editions: https://www.alibabacloud.com/help/en/model-studio/wan3-video-generation-api-reference */
const WAN_3: UpstreamLimits = {
  resolutions: ['480p', '720p', '1080p'],
  referenceVideosSeconds: 15,
  parameters: ['seed', 'generateAudio', 'promptExtend'],
  workspaceHost: true,
  inputs: WAN_3_INPUTS,
};

/** Wan 3.0 in both editions at fal, by the schemas of its endpoints. */
const FAL_WAN_3: UpstreamLimits = {
  resolutions: ['480p', '720p', '1080p'],
  minSeconds: 2,
  maxSeconds: 30,
  referenceVideosSeconds: 15,
  parameters: ['seed', 'generateAudio', 'promptExtend'],
  inputs: WAN_3_INPUTS,
};

/** The limits of the upstream models that we know, by id. A route's own `limits` replace them. */
export const KNOWN_LIMITS: Readonly<Record<string, UpstreamLimits>> = {
  'seedream-4-5-251128': { inputs: SEEDREAM_INPUTS },
  'dola-seedream-5-0-pro-260628': { inputs: SEEDREAM_INPUTS },
  'qwen-image-3.0-pro': { parameters: QWEN_PARAMETERS, inputs: QWEN_INPUTS },
  'wan2.7-i2v': WAN_2_7,
  // https://help.aliyun.com/zh/model-studio/z-image-api-reference
  // A longer prompt of its own making is dearer, so `promptExtend` is not taken.
  'z-image-turbo': {
    ...{ promptCharacters: 800, minPixels: 512 * 512, maxPixels: 2048 * 2048 },
    parameters: ['seed'],
  },
  'wan3.0-video': WAN_3,
  'wan3.0-video-prime': WAN_3,
  'dreamina-seedance-2-0-260128': {
    resolutions: ['480p', '720p', '1080p', '4k'],
    minSeconds: 4,
    maxSeconds: 15,
    referenceVideosSeconds: 15,
    // It documents that it takes no seed.
    parameters: ['generateAudio'],
    inputs: SEEDANCE_INPUTS,
  },
  // https://fal.ai/models/<endpoint>/api
  'fal-ai/bytedance/seedream/v4.5': { groupImages: 6, parameters: ['seed'], inputs: SEEDREAM_INPUTS },
  'bytedance/seedream/v5/pro': {
    ...{ minPixels: 1024 * 1024, maxPixels: 2048 * 2048 },
    inputs: SEEDREAM_INPUTS,
  },
  'alibaba/qwen-image-3': {
    ...{ minPixels: 512 * 512, maxPixels: 2048 * 2048 },
    parameters: QWEN_PARAMETERS,
    inputs: QWEN_INPUTS,
  },
  'fal-ai/z-image/turbo': { maxPixels: 2048 * 2048, parameters: ['seed'] },
  'fal-ai/wan/v2.7': { ...WAN_2_7, resolutions: ['720p', '1080p'], minSeconds: 2, maxSeconds: 15 },
  'alibaba/wan-3.0': FAL_WAN_3,
  'alibaba/wan-3.0-prime': FAL_WAN_3,
  // Of the sandbox alone: it takes the files that Wan 3.0 takes.
  'sandbox-xw3-pro': { parameters: ['generateAudio'], inputs: WAN_3_INPUTS },
};

/** A route as far as its limits go. */
export interface LimitedRoute {
  upstreamModel: string;
  /** Replace the known ones; the known parameters stay, unless these name any. */
  limits?: UpstreamLimits | undefined;
}

/** The limits of an upstream that we know; undefined for another one. */
export const knownLimits = (upstreamModel: string): UpstreamLimits | undefined =>
  Object.hasOwn(KNOWN_LIMITS, upstreamModel) ? KNOWN_LIMITS[upstreamModel] : undefined;

export const limitsOf = ({ upstreamModel, limits }: LimitedRoute): UpstreamLimits => {
  const known = knownLimits(upstreamModel);
  if (!limits) return known ?? {};
  return known?.parameters ? { parameters: known.parameters, ...limits } : limits;
};

/** The hosts of Model Studio that all workspaces share. */
const SHARED_HOST = /^dashscope(-[a-z]+)?\.aliyuncs\.com$/;

/** Whether a route's upstream is served at hosts of a workspace only, and this is none. */
export const lacksHost = (route: LimitedRoute, baseUrl: string): boolean =>
  limitsOf(route).workspaceHost === true && SHARED_HOST.test(new URL(baseUrl).hostname);

/**
 * Why the routes of a model cannot serve it together, in words for an operator; undefined when each choice that the catalog names is made
 * by one of them. A size or a length between two bounds of the catalog may still be refused.
 */
export const unservable = <Route extends LimitedRoute>(
  model: CatalogModel,
  routes: readonly Route[],
  baseUrlOf: (route: Route) => string,
): string | undefined => {
  const served = routes.filter((route) => !lacksHost(route, baseUrlOf(route)));
  const names = (served.length > 0 ? served : routes).map(({ upstreamModel }) => upstreamModel).join(' or ');
  if (served.length === 0) return `${names} is served at hosts of a workspace only`;
  const unmade = unmadeOf(model, served.map(limitsOf));
  return unmade && `${names} makes no ${unmade}`;
};

/** The parts of a catalog entry that no upstream with these limits can make: `videos of 4k`. */
export const unmadeOf = (model: CatalogModel, limits: readonly UpstreamLimits[]): string | undefined =>
  model.type === 'image' ? unmadePresets(model, limits) : unmadeVideos(model, limits);

const unmadePresets = (
  { sizePresets, aspectRatios }: CatalogModel & { type: 'image' },
  limits: readonly UpstreamLimits[],
): string | undefined => {
  const unmade = sizePresets.filter((preset) =>
    aspectRatios.some((ratio) => {
      const { width, height } = dimensionsOf(preset, ratio);
      return !limits.some((each) => takesPixels(each, width * height));
    }),
  );
  return unmade.length > 0 ? `images of ${unmade.join(', ')}` : undefined;
};

const unmadeVideos = (
  { resolutions, durationSec: { min, max } }: CatalogModel & { type: 'video' },
  limits: readonly UpstreamLimits[],
): string | undefined => {
  const made = (resolution: string) =>
    limits.filter((each) => each.resolutions === undefined || each.resolutions.includes(resolution));
  const unmade = resolutions.filter((resolution) => made(resolution).length === 0);
  if (unmade.length > 0) return `videos of ${unmade.join(', ')}`;
  const isMade = (resolution: string, seconds: number) =>
    made(resolution).some((each) => takesSeconds(each, seconds));
  return resolutions.every((resolution) => isMade(resolution, min) && isMade(resolution, max))
    ? undefined
    : `videos of ${min} to ${max} s`;
};

const takesSeconds = (
  { minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY }: UpstreamLimits,
  seconds: number,
): boolean => seconds >= minSeconds && seconds <= maxSeconds;

/** Whether an upstream takes all that a request asks for, as far as its limits are known. */
export const takesRequest = (limits: UpstreamLimits, request: StoredRequest): boolean => {
  const within = (value: number, most = Number.POSITIVE_INFINITY): boolean => value <= most;
  if (!within([...request.prompt].length, limits.promptCharacters)) return false;
  if (untakenParameters(limits, request).length > 0) return false;
  if (request.kind === 'image') {
    const { size, aspectRatio, images, sequential, references } = request;
    const { width, height } = knownDimensions(size, aspectRatio) ?? {};
    return (
      (width === undefined || height === undefined || takesPixels(limits, width * height)) &&
      within(images, sequential ? limits.groupImages : limits.images) &&
      within(references.length, limits.references)
    );
  }
  const { resolution, ratio, durationSec, billedSeconds, referenceImages } = request;
  return (
    (limits.resolutions?.includes(resolution) ?? true) &&
    (ratio === undefined || (limits.ratios?.includes(ratio) ?? true)) &&
    takesSeconds(limits, durationSec) &&
    within(billedSeconds - durationSec, limits.referenceVideosSeconds) &&
    within(referenceImages.length, limits.references)
  );
};

/** The parameters of a request or creation that an upstream does not take. */
export const untakenParameters = (
  { parameters = [] }: UpstreamLimits,
  values: Partial<Record<Parameter, unknown>>,
): Parameter[] => givenParameters(values).filter((name) => !parameters.includes(name));

const takesPixels = ({ minPixels = 0, maxPixels }: UpstreamLimits, pixels: number): boolean =>
  pixels >= minPixels && pixels <= (maxPixels ?? Number.POSITIVE_INFINITY);

/** Why an upstream of a model refuses the size of an image; undefined when the size is taken. */
export const pixelsProblem = (
  limits: UpstreamLimits,
  model: ImageModel,
  { width, height }: Dimensions,
): string | undefined => {
  const { minPixels = 1, maxPixels } = limits;
  const pixels = width * height;
  if (takesPixels(limits, pixels)) return undefined;
  const most = maxPixels === undefined ? ' or more' : ` to ${figure(maxPixels)}`;
  const example = exampleSize(model, (square) => takesPixels(limits, square));
  return `has ${figure(pixels)} pixels; the provider takes ${figure(minPixels)}${most} ${example}`.trimEnd();
};
