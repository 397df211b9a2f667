/** A complete model of images, as an operator gives it in the context. */
export const OWN_IMAGES = {
  id: 'acme-pictures-2',
  type: 'image',
  sizePresets: ['2K'],
  defaultSize: '2K',
  explicitSize: {
    minTotalPixels: 1_000_000,
    maxTotalPixels: 4_624_220,
    minAspectRatio: 0.0625,
    maxAspectRatio: 16,
  },
  maxReferences: 3,
  maxImagesPerRequest: 4,
  capabilities: { sequential: false },
  routes: { provider: 'modelark', upstreamModel: 'seedream-5-0-260128' },
  rate: { perImage: [{ maxPixels: null, xTokens: 7 }] },
};

/** A model of videos that begin with a picture or go by references. */
export const OWN_VIDEOS = {
  id: 'acme.films',
  type: 'video',
  resolutions: ['480p', '720p'],
  defaultResolution: '480p',
  durationSec: { min: 4, max: 12, default: 5 },
  requiresImage: false,
  inputModes: ['first_frame', 'last_frame', 'reference_images'],
  maxReferenceImages: 9,
  ratios: ['adaptive', '16:9'],
  defaultRatio: 'adaptive',
  routes: [{ provider: 'modelark', upstreamModel: 'dreamina-seedance-2-0-260128', maxRunning: 3 }],
  rate: { perSecond: { '480p': 2, '720p': 4 } },
};
