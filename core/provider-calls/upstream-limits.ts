import * as z from 'zod/mini';
import type { CatalogModel } from '../models/catalog.ts';
import { dimensionsOf } from '../models/image-sizes.ts';

const count = () => z.optional(z.int().check(z.gte(1)));

/** Limits of an upstream model that are stricter than the catalog. Absent: the limit of the catalog. */
export const UpstreamLimits = z.strictObject({
  /** Characters of a prompt; the upstream cuts off the rest. */
  promptCharacters: count(),
  /** Width times height of an image. */
  minPixels: count(),
  maxPixels: count(),
  /** Images of a sequential group. */
  groupImages: count(),
  /** Resolutions of a video. */
  resolutions: z.optional(z.array(z.string())),
  /** Seconds of a video. */
  minSeconds: count(),
  maxSeconds: count(),
  /** Seconds of all reference videos together. */
  referenceVideosSeconds: count(),
  /** It is served at hosts of a Model Studio workspace only, not at the hosts that all share. */
  workspaceHost: z.optional(z.boolean()),
});
export type UpstreamLimits = z.infer<typeof UpstreamLimits>;

/** Wan 3.0 in both editions: https://www.alibabacloud.com/help/en/model-studio/wan3-video-generation-api-reference */
const WAN_3: UpstreamLimits = {
  resolutions: ['480p', '720p', '1080p'],
  referenceVideosSeconds: 15,
  workspaceHost: true,
};

/** Wan 3.0 in both editions at fal, by the schemas of its endpoints. */
const FAL_WAN_3: UpstreamLimits = {
  resolutions: ['480p', '720p', '1080p'],
  minSeconds: 2,
  maxSeconds: 30,
  referenceVideosSeconds: 15,
};

/** The limits of the upstream models that we know, by id. A route's own `limits` replace them. */
export const KNOWN_LIMITS: Readonly<Record<string, UpstreamLimits>> = {
  // https://help.aliyun.com/zh/model-studio/z-image-api-reference
  'z-image-turbo': { promptCharacters: 800, minPixels: 512 * 512, maxPixels: 2048 * 2048 },
  'wan3.0-video': WAN_3,
  'wan3.0-video-prime': WAN_3,
  // https://docs.byteplus.com/en/docs/ModelArk/1520757
  'dreamina-seedance-2-0-260128': {
    resolutions: ['480p', '720p', '1080p', '4k'],
    minSeconds: 4,
    maxSeconds: 15,
    referenceVideosSeconds: 15,
  },
  // https://fal.ai/models/<endpoint>/api
  'fal-ai/bytedance/seedream/v4.5': { groupImages: 6 },
  'bytedance/seedream/v5/pro': { minPixels: 1024 * 1024, maxPixels: 2048 * 2048 },
  'alibaba/qwen-image-3': { minPixels: 512 * 512, maxPixels: 2048 * 2048 },
  'fal-ai/z-image/turbo': { maxPixels: 2048 * 2048 },
  'fal-ai/wan/v2.7': { resolutions: ['720p', '1080p'], minSeconds: 2, maxSeconds: 15 },
  'alibaba/wan-3.0': FAL_WAN_3,
  'alibaba/wan-3.0-prime': FAL_WAN_3,
};

/** A route as far as its limits go. */
export interface LimitedRoute {
  upstreamModel: string;
  /** Replace the known ones. */
  limits?: UpstreamLimits | undefined;
}

/** The limits of the upstream model of a route. */
export const limitsOf = ({ upstreamModel, limits }: LimitedRoute): UpstreamLimits =>
  limits ?? (Object.hasOwn(KNOWN_LIMITS, upstreamModel) ? KNOWN_LIMITS[upstreamModel] : undefined) ?? {};

/** The hosts of Model Studio that all workspaces share. */
const SHARED_HOST = /^dashscope(-[a-z]+)?\.aliyuncs\.com$/;

/**
 * Why a route cannot serve a model at all, in words for an operator; undefined when it can serve every choice that
 * the catalog names. A size or a length between two bounds of the catalog may still be refused.
 */
export const unservable = (model: CatalogModel, route: LimitedRoute, baseUrl: string): string | undefined => {
  const { upstreamModel } = route;
  const limits = limitsOf(route);
  if (limits.workspaceHost && SHARED_HOST.test(new URL(baseUrl).hostname)) {
    return `${upstreamModel} is served at hosts of a workspace only`;
  }
  return model.type === 'image'
    ? unmadePresets(model, upstreamModel, limits)
    : unmadeVideos(model, upstreamModel, limits);
};

const unmadePresets = (
  { sizePresets, aspectRatios }: CatalogModel & { type: 'image' },
  upstreamModel: string,
  limits: UpstreamLimits,
): string | undefined => {
  const unmade = sizePresets.filter((preset) =>
    aspectRatios.some((ratio) => {
      const { width, height } = dimensionsOf(preset, ratio);
      return !takesPixels(limits, width * height);
    }),
  );
  return unmade.length > 0 ? `${upstreamModel} makes no images of ${unmade.join(', ')}` : undefined;
};

const unmadeVideos = (
  { resolutions, durationSec }: CatalogModel & { type: 'video' },
  upstreamModel: string,
  { resolutions: made, minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY }: UpstreamLimits,
): string | undefined => {
  const unmade = resolutions.filter((resolution) => made !== undefined && !made.includes(resolution));
  if (unmade.length > 0) return `${upstreamModel} makes no videos of ${unmade.join(', ')}`;
  return durationSec.min < minSeconds || durationSec.max > maxSeconds
    ? `${upstreamModel} makes no videos of ${durationSec.min} to ${durationSec.max} s`
    : undefined;
};

/** Whether an upstream makes images of this many pixels. */
export const takesPixels = ({ minPixels = 0, maxPixels }: UpstreamLimits, pixels: number): boolean =>
  pixels >= minPixels && pixels <= (maxPixels ?? Number.POSITIVE_INFINITY);
