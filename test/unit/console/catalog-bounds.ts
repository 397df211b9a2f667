import type { FormValues } from '../../../console/make/form-rules.ts';
import type { CatalogModel, ImageModel, VideoModel } from '../../../core/models/catalog.ts';

/** A form that breaks one bound of a model. */
export interface BrokenBound {
  model: string;
  /** The bound in the catalog entry, as a path. */
  bound: string;
  values: FormValues;
  /** The field that the refusal names. */
  field: string;
}

const urls = (count: number): string =>
  Array.from({ length: count }, (_, index) => `https://example.com/${index}`).join('\n');

/** What a model says that is no bound. */
const NO_BOUNDS = [
  ...['id', 'type', 'endpoint', 'billing', 'defaultSize', 'defaultResolution', 'defaultRatio'],
  ...['rate', 'retiresAt', 'replacedBy'],
];
/** Bounds of the length of reference videos, which takes the videos to judge. */
const MEASURED_BOUNDS = ['referenceVideoMaxSeconds', 'maxCombinedSeconds'];
/** Bounds that a model without them has, too. */
const BOUNDS_OF_ALL = ['parameters'];

type Breaking = [bound: string, field: string, values: Record<string, string>];

/** An explicit size of about this many pixels and this ratio. */
const sizeOf = (pixels: number, ratio: number): string => {
  const height = Math.round(Math.sqrt(pixels / ratio));
  return `${Math.round(height * ratio)}x${height}`;
};

const ofExplicitSize = ({ explicitSize }: ImageModel): Breaking[] => {
  const { minTotalPixels, maxTotalPixels } = explicitSize;
  const pixels = Math.round((minTotalPixels + maxTotalPixels) / 2);
  const size: Record<keyof ImageModel['explicitSize'], (value: number) => string> = {
    minTotalPixels: (value) => sizeOf(value * 0.99, 1),
    maxTotalPixels: (value) => sizeOf(value * 1.01, 1),
    minAspectRatio: (value) => sizeOf(pixels, value * 0.95),
    maxAspectRatio: (value) => sizeOf(pixels, value * 1.05),
    minSide: (value) => `${value - 1}x${Math.ceil((minTotalPixels * 1.1) / (value - 1))}`,
    maxSide: (value) => `${value + 1}x${Math.floor((maxTotalPixels * 0.9) / (value + 1))}`,
  };
  return Object.entries(explicitSize).map(([name, value]) => {
    const broken = size[name as keyof typeof size];
    if (!broken) throw new Error(`Nothing says how to break explicitSize.${name}.`);
    return [`explicitSize.${name}`, 'size', { size: broken(value) }];
  });
};

const OF_IMAGES: { [Name in keyof ImageModel]?: (model: ImageModel) => Breaking[] } = {
  sizePresets: () => [['sizePresets', 'size', { size: '9K' }]],
  explicitSize: ofExplicitSize,
  aspectRatios: () => [['aspectRatios', 'aspectRatio', { aspectRatio: 'diagonal' }]],
  maxReferences: ({ maxReferences }) => [
    ['maxReferences', 'references', { references: urls(maxReferences + 1) }],
  ],
  maxImagesPerRequest: ({ maxImagesPerRequest: most, capabilities }) => {
    const sequential = { sequential: 'auto', 'sequentialOptions.maxImages': String(most + 1) };
    const withReferences = {
      ...sequential,
      'sequentialOptions.maxImages': String(most),
      references: urls(1),
    };
    const field = 'sequentialOptions.maxImages';
    return [
      ['maxImagesPerRequest', 'n', { n: String(most + 1) }],
      ['at least one image', 'n', { n: '0' }],
      ...(capabilities.sequential
        ? ([
            ['maxImagesPerRequest of a sequence', field, sequential],
            ['maxImagesPerRequest with references', field, withReferences],
          ] satisfies Breaking[])
        : []),
    ];
  },
  capabilities: ({ capabilities }) =>
    Object.entries(capabilities).flatMap(([name, isCapable]): Breaking[] => {
      if (name !== 'sequential') throw new Error(`Nothing says how to break the capability ${name}.`);
      return isCapable ? [] : [['capabilities.sequential', 'sequential', { sequential: 'auto' }]];
    }),
};

/** Every input mode with a form that uses it. */
const MODES: Record<string, [field: string, values: Record<string, string>]> = {
  first_frame: ['image', { image: urls(1) }],
  last_frame: ['lastFrame', { image: urls(1), lastFrame: urls(1) }],
  reference_images: ['referenceImages', { referenceImages: urls(1) }],
  reference_videos: ['referenceVideos', { referenceVideos: urls(1) }],
  reference_audios: ['referenceAudios', { referenceAudios: urls(1) }],
};

const OF_VIDEOS: { [Name in keyof VideoModel]?: (model: VideoModel) => Breaking[] } = {
  resolutions: () => [['resolutions', 'resolution', { resolution: '9k' }]],
  durationSec: ({ durationSec: { min, max } }) => [
    ['durationSec.min', 'durationSec', { durationSec: String(min - 1) }],
    ['durationSec.max', 'durationSec', { durationSec: String(max + 1) }],
    ['whole seconds', 'durationSec', { durationSec: `${min}.5` }],
  ],
  requiresImage: ({ requiresImage }) => (requiresImage ? [['requiresImage', 'image', { image: '' }]] : []),
  maxReferenceImages: ({ maxReferenceImages: most = 0 }) => [
    ['maxReferenceImages', 'referenceImages', { referenceImages: urls(most + 1) }],
  ],
  maxReferenceVideos: ({ maxReferenceVideos: most = 0 }) => [
    ['maxReferenceVideos', 'referenceVideos', { referenceVideos: urls(most + 1) }],
  ],
  maxReferenceAudios: ({ maxReferenceAudios: most = 0 }) => [
    ['maxReferenceAudios', 'referenceAudios', { referenceAudios: urls(most + 1) }],
  ],
  inputModes: () => [],
  ratios: () => [],
};

const ofVideo = (model: VideoModel): Breaking[] => {
  const unknown = (model.inputModes ?? []).filter((mode) => !MODES[mode]);
  if (unknown.length > 0) throw new Error(`Nothing says how to use ${unknown}.`);
  // Also what a model does not name is a bound: that it takes none.
  const refused = Object.entries(MODES).filter(
    ([mode]) => !model.inputModes?.includes(mode) && !(mode === 'first_frame' && model.requiresImage),
  );
  return [
    ...refused.map(([mode, [field, values]]): Breaking => [`no ${mode}`, field, values]),
    ['ratios', 'ratio', { ratio: 'round' }],
  ];
};

/** A value of each parameter that no range excludes. */
const PARAMETER_VALUES: Record<string, string> = {
  seed: '1',
  negativePrompt: 'fog',
  generateAudio: 'false',
  promptExtend: 'true',
};

/** A parameter that the model has not, and the ranges of those that it has. */
const ofParameters = ({ type, parameters = [] }: CatalogModel): Breaking[] => [
  ...Object.entries(PARAMETER_VALUES).flatMap(([name, value]): Breaking[] => {
    const isKnown = type === 'video' || name !== 'generateAudio';
    return !isKnown || parameters.some((one) => one.name === name)
      ? []
      : [[`no ${name}`, name, { [name]: value }]];
  }),
  ...parameters.flatMap(({ name, max, maxCharacters }): Breaking[] => [
    ...(max === undefined ? [] : [[`most of ${name}`, name, { [name]: String(max + 1) }] satisfies Breaking]),
    ...(maxCharacters === undefined
      ? []
      : [[`length of ${name}`, name, { [name]: 'x'.repeat(maxCharacters + 1) }] satisfies Breaking]),
  ]),
];

/** Every bound of a catalog entry, broken on its own in a form that is otherwise complete. Throws for one that it does not know. */
export const brokenBounds = (model: CatalogModel): BrokenBound[] => {
  const known = (model.type === 'image' ? OF_IMAGES : OF_VIDEOS) as Record<
    string,
    ((model: CatalogModel) => Breaking[]) | undefined
  >;
  const breakings = Object.keys(model).flatMap((name) => {
    if ([...NO_BOUNDS, ...MEASURED_BOUNDS, ...BOUNDS_OF_ALL].includes(name)) return [];
    const breaking = known[name];
    if (!breaking) throw new Error(`Nothing says how to break ${name} of ${model.id}.`);
    return breaking(model);
  });
  const complete = {
    ...{ model: model.id, prompt: 'a lighthouse', endUserEmail: 'ada@example.com' },
    ...(model.type === 'video' && model.requiresImage && { image: urls(1) }),
  };
  const ofAll = [...ofParameters(model), ...(model.type === 'video' ? ofVideo(model) : [])];
  return [...breakings, ...ofAll].map(([bound, field, values]) => ({
    model: model.id,
    bound,
    field,
    values: { ...complete, ...values },
  }));
};
