import * as z from 'zod/mini';

/** The parameters of a creation that some models have and others have not, by their fields. */
export const PARAMETERS = ['seed', 'negativePrompt', 'generateAudio', 'promptExtend'] as const;
export type Parameter = (typeof PARAMETERS)[number];

/** Of videos alone. */
const OF_VIDEOS = 'generateAudio';
/** The parameters of models of images. */
export const IMAGE_PARAMETERS = PARAMETERS.filter((name) => name !== OF_VIDEOS);

/** The values of parameters; a creation that does not give one leaves it to the model. */
export const PARAMETER_VALUES = {
  seed: z.optional(z.number()),
  negativePrompt: z.optional(z.string()),
  generateAudio: z.optional(z.boolean()),
  promptExtend: z.optional(z.boolean()),
} satisfies Record<Parameter, z.ZodMiniType>;

/** A parameter that a model has, with the range of its values: of a number `min` to `max`, of a text its length. */
export interface ModelParameter {
  name: Parameter;
  min?: number | undefined;
  max?: number | undefined;
  maxCharacters?: number | undefined;
}

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
export const ImageParameters = listOf(z.discriminatedUnion('name', [seed, negativePrompt, promptExtend]));
export const VideoParameters = listOf(
  z.discriminatedUnion('name', [seed, negativePrompt, promptExtend, generateAudio]),
);

/** The parameters that are given, by name. */
export const givenParameters = (values: Partial<Record<Parameter, unknown>>): Parameter[] =>
  PARAMETERS.filter((name) => values[name] !== undefined);
