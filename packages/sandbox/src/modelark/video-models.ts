import type { Resolution } from '../media/video-size.ts';

/** The limits of a video model. */
export type VideoModel = {
  resolutions: readonly Resolution[];
  defaultResolution: Resolution;
  minSeconds: number;
  maxSeconds: number;
  maxReferences: { reference_image: number; reference_video: number; reference_audio: number };
  /** Whether audio may be the only reference. */
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
  // Made up: no provider is confirmed yet to offer a model with these limits.
  'sandbox-xw3-pro': {
    resolutions: ['1080p', '2k', '4k'],
    defaultResolution: '1080p',
    minSeconds: 2,
    maxSeconds: 30,
    maxReferences: { reference_image: 10, reference_video: 5, reference_audio: 5 },
    takesAudioAlone: true,
  },
};

/** Finds a model by its id; undefined when unknown. */
export const findVideoModel = (id: string): VideoModel | undefined =>
  Object.hasOwn(MODELS, id) ? MODELS[id] : undefined;
