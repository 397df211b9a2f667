import { isObject } from '../http.ts';
import { ADAPTIVE_RATIO, RATIOS, type Ratio, type Resolution } from '../media/video-size.ts';
import { invalidParameter, modelNotFound, wrongRoute } from './errors.ts';
import { isFlag, isIntegerWithin, MAX_SEED } from './fields.ts';
import { findVideoModel, type MediaCounts, type StudioVideoModel } from './video-models.ts';

/** An accepted video request. */
export type StudioVideoRequest = {
  model: string;
  /** Cut at the model's maximum length. */
  prompt: string;
  resolution: Resolution;
  /** `adaptive` is resolved. */
  ratio: Ratio;
  /** -1 is resolved. */
  seconds: number;
  watermark: boolean;
  /** Why the task will fail: Model Studio checks the combination of media only when it runs the task. */
  forbiddenMix?: string;
};

const DEFAULT_SECONDS = 5;

/** Matches the start only: matching megabytes of base64 would overflow the regular expression engine's stack. */
const PLAIN_URL = /^(?:https?|oss):\/\/\S/;
const IMAGE_DATA_URL = /^data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]/;

const TAKES_DATA_URL: ReadonlySet<string> = new Set(['first_frame', 'last_frame', 'reference_image']);

const modelOf = (id: unknown): StudioVideoModel => {
  if (typeof id !== 'string' || id === '') throw invalidParameter('Field required: model');
  const model = findVideoModel(id);
  if (model) return model;
  throw /^(?:qwen-image|z-image)/.test(id) ? wrongRoute() : modelNotFound(id);
};

const readMedia = (media: unknown, { maxMedia }: StudioVideoModel): MediaCounts => {
  if (!Array.isArray(media)) throw invalidParameter('input.media must be a list');
  const counts = new Map<string, number>();
  for (const [index, item] of media.entries()) {
    const { type, url } = isObject(item) ? item : {};
    if (typeof type !== 'string' || !Object.hasOwn(maxMedia, type)) {
      throw invalidParameter(`input.media[${index}].type must be one of ${Object.keys(maxMedia).join(', ')}`);
    }
    const isUrl =
      typeof url === 'string' &&
      (PLAIN_URL.test(url) || (TAKES_DATA_URL.has(type) && IMAGE_DATA_URL.test(url)));
    if (!isUrl) throw invalidParameter(`input.media[${index}].url is not a URL this type can have`);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  for (const [type, count] of counts) {
    const most = maxMedia[type] ?? 0;
    if (count > most) throw invalidParameter(`input.media may hold at most ${most} ${type}`);
  }
  return counts;
};

const readInput = (input: unknown, model: StudioVideoModel) => {
  const { prompt = '', media = [] } = isObject(input) ? input : {};
  if (typeof prompt !== 'string') throw invalidParameter('input.prompt must be a string');
  const counts = readMedia(media, model);
  if (counts.size === 0 && !(model.takesPromptAlone && prompt !== '')) {
    throw invalidParameter(
      model.takesPromptAlone ? 'Field required: input.prompt or input.media' : 'Field required: input.media',
    );
  }
  return { prompt: prompt.slice(0, model.maxPromptLength), counts };
};

const readResolution = (value: unknown, { resolutions }: StudioVideoModel): Resolution => {
  const resolution = resolutions.find((candidate) => candidate.toUpperCase() === value);
  if (resolution === undefined) {
    const words = resolutions.map((word) => word.toUpperCase()).join(', ');
    throw invalidParameter(`parameters.resolution must be one of ${words}`);
  }
  return resolution;
};

const readRatio = (value: unknown, { hasRatio }: StudioVideoModel): Ratio => {
  if (!hasRatio || value === 'adaptive') return ADAPTIVE_RATIO;
  const ratio = RATIOS.find((candidate) => candidate === value);
  if (ratio === undefined) {
    throw invalidParameter(`parameters.ratio must be one of adaptive, ${RATIOS.join(', ')}`);
  }
  return ratio;
};

const readSeconds = (value: unknown, { decides, minSeconds, maxSeconds }: StudioVideoModel): number => {
  if (decides && value === -1) return DEFAULT_SECONDS;
  if (!isIntegerWithin(value, minSeconds, maxSeconds)) {
    throw invalidParameter(`parameters.duration must be an integer from ${minSeconds} to ${maxSeconds}`);
  }
  return value;
};

const readParameters = (parameters: unknown, model: StudioVideoModel, counts: MediaCounts) => {
  if (!isObject(parameters)) throw invalidParameter('parameters must be an object');
  const { resolution = '1080P', ratio = 'adaptive', duration = DEFAULT_SECONDS, seed = 0 } = parameters;
  const { audio = true, watermark = false, prompt_extend: promptExtend = true } = parameters;
  const minSeed = model.decides ? -1 : 0;
  if (!isIntegerWithin(seed, minSeed, MAX_SEED)) {
    throw invalidParameter(`parameters.seed must be an integer from ${minSeed} to ${MAX_SEED}`);
  }
  if (!isFlag(audio)) throw invalidParameter('parameters.audio must be a boolean');
  if (!isFlag(watermark)) throw invalidParameter('parameters.watermark must be a boolean');
  if (!isFlag(promptExtend)) throw invalidParameter('parameters.prompt_extend must be a boolean');
  if (!promptExtend && (counts.has('file') || counts.has('link'))) {
    throw invalidParameter('parameters.prompt_extend must be true with file or link');
  }
  return {
    resolution: readResolution(resolution, model),
    ratio: readRatio(ratio, model),
    seconds: readSeconds(duration, model),
    watermark,
  };
};

/**
 * Validates the body of a video call. Throws `UpstreamError`, except for a forbidden combination of media, which is
 * returned. The media themselves are not fetched.
 */
export const readVideoRequest = (body: Record<string, unknown>): StudioVideoRequest => {
  const model = modelOf(body.model);
  const { prompt, counts } = readInput(body.input, model);
  const parameters = readParameters(body.parameters ?? {}, model, counts);
  const forbiddenMix = counts.size > 0 ? model.findForbiddenMix(counts) : undefined;
  return {
    model: String(body.model),
    prompt,
    ...parameters,
    ...(forbiddenMix !== undefined && { forbiddenMix }),
  };
};
