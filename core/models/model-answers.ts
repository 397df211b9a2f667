import * as z from 'zod/mini';
import { described, instant, named } from '../answers.ts';
import { PARAMETERS } from './model-parameters.ts';
import { ImageRate, VideoRate } from './rate-schemas.ts';
import { ASPECT_RATIOS, PRESET_SIDE_PIXELS, type SizePreset } from './size-presets.ts';

/** The catalog is written once and never changed. */
type Immutable<T> = T extends (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { [Name in keyof T]: Immutable<T[Name]> }
    : T;

const preset = () => z.enum(Object.keys(PRESET_SIDE_PIXELS) as [SizePreset, ...SizePreset[]]);
const limit = (description: string) => described(z.int().check(z.gte(0)), description);

const ExplicitSizeBounds = named(
  'ExplicitSizeBounds',
  'Bounds of an explicit `<width>x<height>`. Ratios are width divided by height, sides are pixels.',
  z.object({
    minTotalPixels: z.int(),
    maxTotalPixels: z.int(),
    minAspectRatio: z.number(),
    maxAspectRatio: z.number(),
    minSide: z.optional(z.int()),
    maxSide: z.optional(z.int()),
  }),
);

const optionalLimit = (description: string) =>
  z.optional(described(z.number().check(z.positive()), description));

const InputFileLimits = named(
  'InputFileLimits',
  'Limits of a model on each input file of a medium. Absent: no limit that is known. Sides are pixels.',
  z.object({
    types: described(z.array(z.string()), 'The content types that it takes.'),
    maxBytes: described(z.int().check(z.gte(1)), 'Most bytes of an upload.'),
    minSide: optionalLimit('Shortest side.'),
    maxSide: optionalLimit('Longest side.'),
    maxPixels: optionalLimit('Most pixels.'),
    maxRatio: optionalLimit('Largest ratio of the longer side to the shorter.'),
    alpha: z.optional(described(z.literal(false), 'A PNG must have no alpha channel.')),
    minSeconds: optionalLimit('Shortest length.'),
    maxSeconds: optionalLimit('Longest length.'),
    maxTotalSeconds: optionalLimit('Longest length of all files of the medium together.'),
    minFramesPerSecond: optionalLimit('Fewest frames a second.'),
  }),
);
/** Limits of a model on each input file of a medium, as `GET /v1/models` shows them. */
export type InputFileLimits = z.infer<typeof InputFileLimits>;

const inputs = () =>
  z.optional(
    described(
      z.object({
        image: z.optional(InputFileLimits),
        video: z.optional(InputFileLimits),
        audio: z.optional(InputFileLimits),
      }),
      'Only with `include=inputs`: limits on input files, by the media that the model takes. A file beyond them is refused; one within them can still be.',
    ),
  );

const ModelParameter = named(
  'ModelParameter',
  'A field of a creation that the model takes and others do not, with the range of its values: of a number `min` to `max`, of a text its characters.',
  z.object({
    name: z.enum(PARAMETERS),
    min: z.optional(z.int()),
    max: z.optional(z.int()),
    maxCharacters: z.optional(z.int()),
  }),
);
const parameters = () => z.optional(described(z.array(ModelParameter), 'Absent: it takes none of them.'));

const end = () => ({
  retiresAt: z.optional(
    instant(
      'Only of a model whose end is announced: from then on its creations are refused with 400 on `model`.',
    ),
  ),
  replacedBy: z.optional(described(z.string(), 'The model to use in its place.')),
});

const ImageModel = named(
  'ImageModel',
  'A model that makes images, with every limit it enforces.',
  z.object({
    id: z.string(),
    type: z.literal('image'),
    endpoint: described(z.string(), 'The route that creates its requests: `POST /v1/generations`.'),
    billing: z.literal('per_image'),
    sizePresets: described(z.array(preset()), 'The presets that `size` takes.'),
    defaultSize: preset(),
    explicitSize: ExplicitSizeBounds,
    aspectRatios: z.array(z.enum(ASPECT_RATIOS)),
    maxReferences: limit('Most `references`; 0: it takes none.'),
    maxImagesPerRequest: limit('Most images in a request.'),
    capabilities: z.object({ sequential: described(z.boolean(), 'Whether it takes `sequential`.') }),
    inputs: inputs(),
    parameters: parameters(),
    ...end(),
    rate: z.optional(
      described(
        ImageRate,
        'Only where the operator publishes rates: xTokens an image, by the first tier whose `maxPixels` its size does not exceed; null is any size.',
      ),
    ),
  }),
);
/** An image model as `GET /v1/models` shows it. */
export type ImageModel = Immutable<z.infer<typeof ImageModel>>;

const VideoModel = named(
  'VideoModel',
  'A model that makes videos, with every limit it enforces. Durations are whole seconds.',
  z.object({
    id: z.string(),
    type: z.literal('video'),
    endpoint: described(z.string(), 'The route that creates its requests: `POST /v1/videos`.'),
    billing: z.literal('per_second'),
    resolutions: described(z.array(z.string()), 'The values that `resolution` takes.'),
    defaultResolution: z.string(),
    durationSec: z.object({ min: z.int(), max: z.int(), default: z.int() }),
    requiresImage: described(z.boolean(), 'Whether `image` is required.'),
    inputModes: z.optional(
      described(
        z.array(z.string()),
        'Inputs other than the prompt: `first_frame`, `last_frame`, `reference_images`, `reference_videos`, `reference_audios`.',
      ),
    ),
    maxReferenceImages: z.optional(limit('Most `referenceImages`.')),
    maxReferenceVideos: z.optional(limit('Most `referenceVideos`.')),
    maxReferenceAudios: z.optional(limit('Most `referenceAudios`.')),
    ratios: z.optional(described(z.array(z.string()), 'The values that `ratio` takes.')),
    defaultRatio: z.optional(z.string()),
    referenceVideoMaxSeconds: z.optional(limit('Longest reference video.')),
    maxCombinedSeconds: z.optional(limit('Longest output and reference videos together.')),
    inputs: inputs(),
    parameters: parameters(),
    ...end(),
    rate: z.optional(
      described(VideoRate, 'Only where the operator publishes rates: xTokens a second, by resolution.'),
    ),
  }),
);
/** A video model as `GET /v1/models` shows it; durations are whole seconds. */
export type VideoModel = Immutable<z.infer<typeof VideoModel>>;

/** A model as `GET /v1/models` shows it. */
export const CatalogModel = named(
  'Model',
  'A model with every limit it enforces.',
  z.discriminatedUnion('type', [ImageModel, VideoModel]),
);
export type CatalogModel = ImageModel | VideoModel;

/** The response of `GET /v1/models`. */
named('Models', 'The models that can be used right now.', z.object({ data: z.array(CatalogModel) }));
