import type { Parameter } from '../core/models/model-parameters.ts';
import { knownLimits } from '../core/provider-calls/upstream-limits.ts';
import type {
  AskedOfImages,
  AskedOfVideo,
  ImageRequest,
  StoredRequest,
  VideoRequest,
} from '../core/requests/request-rules.ts';

type ImageField = Exclude<keyof AskedOfImages, 'webhookUrl'> | 'prompt' | 'images' | 'sequential';
type VideoField = Exclude<keyof AskedOfVideo, 'webhookUrl'> | 'prompt';

/** Whether an upstream model is sent a field of a creation. A field that is not taken is never left out in silence: a request with it is not planned. */
type Sent = 'sent' | 'not taken';

/** The treatment of each field of a creation of images or a video by an adapter. The compiler requires every field. */
export type ImageFields = Readonly<Record<ImageField, Sent>>;
export type VideoFields = Readonly<Record<VideoField, Sent>>;

/** An image model that takes every field. Its parameters are listed separately. */
export const ALL_OF_IMAGES = {
  prompt: 'sent',
  size: 'sent',
  aspectRatio: 'sent',
  references: 'sent',
  images: 'sent',
  sequential: 'sent',
} as const satisfies Omit<ImageFields, Parameter>;

/** A video model that takes every field. Its parameters are listed separately. */
export const ALL_OF_VIDEO = {
  prompt: 'sent',
  resolution: 'sent',
  durationSec: 'sent',
  ratio: 'sent',
  image: 'sent',
  lastFrame: 'sent',
  referenceImages: 'sent',
  referenceVideos: 'sent',
  referenceAudios: 'sent',
} as const satisfies Omit<VideoFields, Parameter>;

/** Wan 2.7: its frames give the shape, and it takes no references. */
export const FRAMES_ALONE = {
  ...ALL_OF_VIDEO,
  ratio: 'not taken',
  referenceImages: 'not taken',
  referenceVideos: 'not taken',
  referenceAudios: 'not taken',
} as const satisfies Omit<VideoFields, Parameter>;

/**
 * The parameters that an upstream model takes, out of the parameters that the maker's API has words for. An upstream model
 * unknown to us takes every parameter: its route decides.
 */
export const parametersAt = <Words extends Readonly<Partial<Record<Parameter, Sent>>>>(
  upstreamModel: string,
  words: Words,
): Words => {
  const known = knownLimits(upstreamModel);
  if (!known) return words;
  const { parameters = [] } = known;
  const sent = Object.entries(words).map(([name, word]) => [
    name,
    parameters.includes(name as Parameter) ? word : 'not taken',
  ]);
  return Object.fromEntries(sent) as Words;
};

/** Values by which a request asks for nothing. */
const isNeutral = (field: string, value: unknown): boolean =>
  value === undefined ||
  (field === 'sequential' && value === false) ||
  (Array.isArray(value) && value.length === 0) ||
  (field === 'images' && value === 1) ||
  (field === 'ratio' && value === 'adaptive');

/** The names of fields in a creation, where the stored request has another. */
const NAMES = new Map([['images', 'n']]);

/** The first field of a request, by its name in a creation, that an upstream model is not sent. */
export const untakenField = (
  request: StoredRequest,
  fields: ImageFields | VideoFields,
): string | undefined => {
  const values: Partial<ImageRequest & VideoRequest> = request as ImageRequest & VideoRequest;
  const [found] = Object.entries(fields).filter(
    ([field, sent]) => sent === 'not taken' && !isNeutral(field, values[field as keyof typeof values]),
  );
  return found && (NAMES.get(found[0]) ?? found[0]);
};
