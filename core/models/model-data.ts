import * as z from 'zod/mini';
import { ImageRate, VideoRate } from './rate-schemas.ts';
import { PRESET_SIDE_PIXELS, type SizePreset } from './size-presets.ts';

/** The inputs of a video besides the prompt. */
const INPUT_MODES = [
  'first_frame',
  'last_frame',
  'reference_images',
  'reference_videos',
  'reference_audios',
] as const;

/** Most files and images of a request: what the service's steps and stored items are tested with. */
const MAX_FILES = 15;
/** Longest video of a model. */
const MAX_SECONDS = 120;
/** Widest and highest image of an explicit size, as requests name it. */
const MAX_PIXELS = 100_000_000;

const whole = (least: number, most: number) => z.int().check(z.gte(least), z.lte(most));
const distinct = <Item extends z.ZodMiniType>(item: Item) =>
  z.array(item).check(
    z.minLength(1),
    z.refine((items) => new Set(items).size === items.length, { error: 'Expected different values' }),
  );
/** A part of keys, metrics and names of alarms. */
const modelId = () =>
  z.string().check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/, {
      error: 'Expected at most 40 letters, digits, dots, hyphens and underscores, a letter or digit first',
    }),
  );
/** A resolution or ratio, as a request names it. */
const label = () => z.string().check(z.regex(/^[a-z0-9:]{1,12}$/, { error: 'Expected a short name' }));
const preset = () => z.enum(Object.keys(PRESET_SIDE_PIXELS) as [SizePreset, ...SizePreset[]]);
const ratio = () => z.number().check(z.gte(0.01), z.lte(100));

const seed = z.strictObject({
  name: z.literal('seed'),
  min: z.int().check(z.gte(0)),
  max: z.int().check(z.gte(0)),
});
const negativePrompt = z.strictObject({
  name: z.literal('negativePrompt'),
  maxCharacters: z.int().check(z.gte(1), z.lte(4000)),
});
const promptExtend = z.strictObject({ name: z.literal('promptExtend') });
const generateAudio = z.strictObject({ name: z.literal('generateAudio') });

const listOf = <Schema extends z.ZodMiniType<{ name: string }>>(schema: Schema) =>
  z.optional(
    z.array(schema).check(
      z.refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
        error: 'Expected each parameter once',
      }),
    ),
  );
/** The `parameters` of a model in the catalog's data file. */
const ImageParameters = listOf(z.discriminatedUnion('name', [seed, negativePrompt, promptExtend]));
const VideoParameters = listOf(
  z.discriminatedUnion('name', [seed, negativePrompt, promptExtend, generateAudio]),
);

/** An image model in the catalog's data file: its limits, and its rate until an operator sets a rate. */
export const ImageModelData = z.strictObject({
  id: modelId(),
  type: z.literal('image'),
  sizePresets: distinct(preset()),
  defaultSize: preset(),
  explicitSize: z.strictObject({
    minTotalPixels: whole(1, MAX_PIXELS),
    maxTotalPixels: whole(1, MAX_PIXELS),
    minAspectRatio: ratio(),
    maxAspectRatio: ratio(),
    minSide: z.optional(whole(1, MAX_PIXELS)),
    maxSide: z.optional(whole(1, MAX_PIXELS)),
  }),
  maxReferences: whole(0, MAX_FILES),
  maxImagesPerRequest: whole(1, MAX_FILES),
  capabilities: z.strictObject({ sequential: z.boolean() }),
  parameters: ImageParameters,
  rate: ImageRate,
});

/** A model that makes videos, as the data file has it. */
export const VideoModelData = z.strictObject({
  id: modelId(),
  type: z.literal('video'),
  resolutions: distinct(label()),
  defaultResolution: label(),
  durationSec: z.strictObject({
    min: whole(1, MAX_SECONDS),
    max: whole(1, MAX_SECONDS),
    default: whole(1, MAX_SECONDS),
  }),
  requiresImage: z.boolean(),
  inputModes: z.optional(distinct(z.enum(INPUT_MODES))),
  maxReferenceImages: z.optional(whole(1, MAX_FILES)),
  maxReferenceVideos: z.optional(whole(1, MAX_FILES)),
  maxReferenceAudios: z.optional(whole(1, MAX_FILES)),
  ratios: z.optional(distinct(label())),
  defaultRatio: z.optional(label()),
  referenceVideoMaxSeconds: z.optional(whole(1, MAX_SECONDS)),
  maxCombinedSeconds: z.optional(whole(1, 2 * MAX_SECONDS)),
  parameters: VideoParameters,
  rate: VideoRate,
});

export type ModelData = z.infer<typeof ImageModelData> | z.infer<typeof VideoModelData>;
