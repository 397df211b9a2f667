import type { Resolution } from '../media/video-size.ts';

/** The number of media of each type in a call; absent types have no entry. */
export type MediaCounts = ReadonlyMap<string, number>;

/** The limits of a video model. */
export type StudioVideoModel = {
  /** Maximum number of media, by type. */
  maxMedia: Readonly<Record<string, number>>;
  /** Why this combination of media is invalid; undefined when it is valid. */
  findForbiddenMix(counts: MediaCounts): string | undefined;
  /** Whether a prompt without media is enough. */
  takesPromptAlone: boolean;
  /** The rest of a longer prompt is ignored. */
  maxPromptLength: number;
  /** Lower case; the wire format is upper case. */
  resolutions: readonly Resolution[];
  /** Whether `ratio` has an effect; otherwise it follows the image. */
  hasRatio: boolean;
  /** Whether `duration` and `seed` may be -1, which lets the model decide. */
  decides: boolean;
  minSeconds: number;
  maxSeconds: number;
  /** Whether it is served at hosts of a workspace only. */
  isPreview: boolean;
};

const ALLOWED_2_7_MIXES = [
  ['first_frame'],
  ['first_frame', 'last_frame'],
  ['driving_audio', 'first_frame'],
  ['first_clip'],
].map((types) => types.join('+'));

const WAN_2_7_I2V: StudioVideoModel = {
  maxMedia: { first_frame: 1, last_frame: 1, driving_audio: 1, first_clip: 1 },
  findForbiddenMix: (counts) => {
    const mix = [...counts.keys()].sort().join('+');
    return ALLOWED_2_7_MIXES.includes(mix) ? undefined : `the media types ${mix} cannot be used together`;
  },
  takesPromptAlone: false,
  maxPromptLength: 5_000,
  resolutions: ['720p', '1080p'],
  hasRatio: false,
  decides: false,
  minSeconds: 2,
  maxSeconds: 15,
  isPreview: false,
};

const WAN_3_0: StudioVideoModel = {
  maxMedia: {
    first_frame: 1,
    last_frame: 1,
    reference_image: 10,
    reference_video: 5,
    reference_audio: 5,
    file: 1,
    link: 1,
  },
  findForbiddenMix: (counts) => {
    const hasFrames = counts.has('first_frame') || counts.has('last_frame');
    const hasOthers = [...counts.keys()].some((type) => !type.endsWith('_frame'));
    if (hasFrames && hasOthers) return 'first_frame and last_frame cannot be mixed with other media types';
    if (counts.has('last_frame') && !counts.has('first_frame')) return 'last_frame requires first_frame';
    if (counts.has('file') && counts.has('link')) return 'file and link cannot be used together';
    return undefined;
  },
  takesPromptAlone: true,
  maxPromptLength: 20_000,
  resolutions: ['480p', '720p', '1080p'],
  hasRatio: true,
  decides: true,
  minSeconds: 2,
  maxSeconds: 30,
  // Documented at hosts of a workspace only: https://www.alibabacloud.com/help/en/model-studio/wan3-video-generation-api-reference
  isPreview: true,
};

const MODELS: Readonly<Record<string, StudioVideoModel>> = {
  'wan2.7-i2v': WAN_2_7_I2V,
  'wan3.0-video': WAN_3_0,
  'wan3.0-video-prime': WAN_3_0,
};

/** Finds a model by its id; undefined when unknown. */
export const findVideoModel = (id: string): StudioVideoModel | undefined =>
  Object.hasOwn(MODELS, id) ? MODELS[id] : undefined;
