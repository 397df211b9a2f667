import type { Resolution } from '../video-size.ts';

/** What one video model of ModelArk accepts. */
export type VideoModel = {
  resolutions: readonly Resolution[];
  defaultResolution: Resolution;
  minSeconds: number;
  maxSeconds: number;
  maxReferences: { reference_image: number; reference_video: number; reference_audio: number };
  /** Whether audio may be the only kind of reference. */
  takesAudioAlone: boolean;
};

const MODELS: Readonly<Record<string, VideoModel>> = {
  'dreamina-seedance-2-0-260128': {
    resolutions: ['480p', '720p', '1080p', '4k'],
    defaultResolution: '720p',
    minSeconds: 4,
    maxSeconds: 15,
    maxReferences: { reference_image: 9, reference_video: 3, reference_audio: 3 },
    takesAudioAlone: false,
  },
  // No upstream has it: it stands in for a model of the catalog whose upstream is not confirmed.
  'sandbox-xw3-pro': {
    resolutions: ['1080p', '2k', '4k'],
    defaultResolution: '1080p',
    minSeconds: 2,
    maxSeconds: 30,
    maxReferences: { reference_image: 10, reference_video: 5, reference_audio: 5 },
    takesAudioAlone: true,
  },
};

/** The limits of a model by its id; undefined when there is no such model. */
export const findVideoModel = (id: string): VideoModel | undefined =>
  Object.hasOwn(MODELS, id) ? MODELS[id] : undefined;
