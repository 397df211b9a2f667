import { isObject, type Reply } from '../http.ts';
import { ADAPTIVE_RATIO, RATIOS, type Ratio, type Resolution } from '../media/video-size.ts';
import { modelError } from './errors.ts';

type Body = Record<string, unknown>;

/** The outputs that a body asks for, or the model's error about it. */
export type FalWork =
  | {
      kind: 'images';
      width: number;
      height: number;
      count: number;
      format: 'png' | 'jpeg';
      isFlagging: boolean;
    }
  | { kind: 'video'; resolution: Resolution; ratio: Ratio; seconds: number }
  | { kind: 'error'; reply: Reply };

/** The models, by their endpoint without its last part, and how each reads a body. Z-Image has one endpoint. */
type FalModel = {
  /** The last parts of its endpoints, with the fields that each of them needs. */
  routes: Readonly<Record<string, readonly string[]>>;
  read(body: Body, route: string): FalWork;
};

const wrong = (type: string, msg: string, field: string): FalWork => ({
  kind: 'error',
  reply: modelError(422, type, msg, field),
});

const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

/** The sides of sizes that fal names. */
const NAMED_SIDES: Readonly<Record<string, readonly [number, number]>> = {
  square_hd: [1024, 1024],
  square: [512, 512],
  portrait_4_3: [768, 1024],
  portrait_16_9: [576, 1024],
  landscape_4_3: [1024, 768],
  landscape_16_9: [1024, 576],
  auto_1K: [1024, 1024],
  auto_2K: [2048, 2048],
  auto_4K: [4096, 4096],
};

/** The names of sizes that are of Seedream alone begin with this. */
const AUTO = 'auto_';

type ImageLimits = {
  sizes: readonly string[];
  defaultSize: string;
  minPixels: number;
  maxPixels: number;
  maxImages: number;
  format: 'png' | 'jpeg';
  isFlagging?: true;
};

const sidesOf = (size: unknown, { sizes }: ImageLimits): readonly [number, number] | undefined => {
  if (isObject(size)) {
    const { width, height } = size;
    return isWhole(width, 1, 100_000) && isWhole(height, 1, 100_000) ? [width, height] : undefined;
  }
  const name = String(size);
  if (name.startsWith(AUTO) && !sizes.includes(name)) return undefined;
  return Object.hasOwn(NAMED_SIDES, name) ? NAMED_SIDES[name] : undefined;
};

const readImages =
  (limits: ImageLimits) =>
  (body: Body): FalWork => {
    const { num_images: count = 1, max_images: group = 1, image_urls: references } = body;
    const sides = sidesOf(body.image_size ?? limits.defaultSize, limits);
    if (!sides) return wrong('image_size', 'is no size', 'image_size');
    const [width, height] = sides;
    if (width * height < limits.minPixels) return wrong('image_too_small', 'is too small', 'image_size');
    if (width * height > limits.maxPixels) return wrong('image_too_large', 'is too large', 'image_size');
    if (!isWhole(count, 1, limits.maxImages))
      return wrong('less_than_equal', 'is out of range', 'num_images');
    if (!isWhole(group, 1, limits.maxImages))
      return wrong('less_than_equal', 'is out of range', 'max_images');
    const files = Array.isArray(references) ? references.length : 0;
    if (files + Math.max(count, group) > 15) return wrong('too_many', 'are too many files', 'image_urls');
    const { format, isFlagging = false } = limits;
    return { kind: 'images', width, height, count: Math.max(count, group), format, isFlagging };
  };

const imageModel = (limits: ImageLimits): FalModel => ({
  routes: { 'text-to-image': [], edit: ['image_urls'] },
  read: readImages(limits),
});

const videoModel = (
  routes: FalModel['routes'],
  resolutions: readonly string[],
  maxSeconds: number,
): FalModel => ({
  routes,
  read: (body) => {
    const { resolution = '1080p', duration: seconds = 5, aspect_ratio: ratio = 'adaptive' } = body;
    if (!resolutions.includes(String(resolution))) return wrong('one_of', 'is no resolution', 'resolution');
    if (!isWhole(seconds, 2, maxSeconds)) return wrong('video_duration', 'is out of range', 'duration');
    const known = RATIOS.find((one) => one === ratio);
    if (!known && ratio !== 'adaptive') return wrong('one_of', 'is no ratio', 'aspect_ratio');
    return { kind: 'video', resolution: resolution as Resolution, ratio: known ?? ADAPTIVE_RATIO, seconds };
  },
});

const WAN_3 = videoModel(
  {
    'text-to-video': ['prompt'],
    'image-to-video': ['start_image_url'],
    'reference-to-video': ['prompt'],
  },
  ['480p', '720p', '1080p'],
  30,
);

const MODELS: Readonly<Record<string, FalModel>> = {
  'fal-ai/bytedance/seedream/v4.5': imageModel({
    ...{ sizes: ['auto_2K', 'auto_4K'], defaultSize: 'auto_2K', format: 'jpeg', maxImages: 6 },
    ...{ minPixels: 3_686_400, maxPixels: 16_777_216 },
  }),
  'bytedance/seedream/v5/pro': imageModel({
    ...{ sizes: ['auto_1K', 'auto_2K'], defaultSize: 'auto_2K', format: 'jpeg', maxImages: 6 },
    ...{ minPixels: 1_048_576, maxPixels: 4_194_304 },
  }),
  'alibaba/qwen-image-3': imageModel({
    ...{ sizes: [], defaultSize: 'square_hd', format: 'png', maxImages: 6 },
    ...{ minPixels: 262_144, maxPixels: 4_194_304 },
  }),
  'fal-ai/z-image/turbo': {
    routes: { '': ['prompt'] },
    read: readImages({
      ...{ sizes: [], defaultSize: 'landscape_4_3', format: 'png', maxImages: 4, isFlagging: true },
      ...{ minPixels: 1, maxPixels: 4_194_304 },
    }),
  },
  'fal-ai/wan/v2.7': videoModel({ 'image-to-video': ['image_url'] }, ['720p', '1080p'], 15),
  'alibaba/wan-3.0': WAN_3,
  'alibaba/wan-3.0-prime': WAN_3,
};

/** The applications, by owner and name: the first two parts of an endpoint. */
const APPLICATIONS = new Set(Object.keys(MODELS).map((id) => id.split('/').slice(0, 2).join('/')));

/** Whether an endpoint belongs to an application: any other path is refused at submit. */
export const hasApplication = (endpoint: string): boolean =>
  APPLICATIONS.has(endpoint.split('/').slice(0, 2).join('/'));

/** The model of an endpoint, and what it makes of a body. An unknown path under an application fails only when it runs. */
export const workOf = (endpoint: string, body: Body): FalWork & { model: string } => {
  const [model, found] = Object.entries(MODELS).find(
    ([id]) => endpoint === id || endpoint.startsWith(`${id}/`),
  ) ?? [endpoint];
  const route = endpoint.slice(model.length + 1);
  const needed = found && Object.hasOwn(found.routes, route) ? found.routes[route] : undefined;
  if (!found || !needed) {
    return { model, ...wrong('path_not_found', `Path /${route} not found`, 'path') };
  }
  const missing = needed.find((field) => body[field] === undefined);
  if (missing !== undefined) return { model, ...wrong('missing', 'Field required', missing) };
  return { model, ...found.read(body, route) };
};
