import * as z from 'zod/mini';

/** The parameters of a creation that some models have and others have not, by their fields. */
export const PARAMETERS = ['seed', 'negativePrompt', 'generateAudio', 'promptExtend'] as const;
export type Parameter = (typeof PARAMETERS)[number];

/** The values of parameters; a creation that does not give one leaves it to the model. */
export const PARAMETER_VALUES = {
  seed: z.optional(z.number()),
  negativePrompt: z.optional(z.string()),
  generateAudio: z.optional(z.boolean()),
  promptExtend: z.optional(z.boolean()),
} satisfies Record<Parameter, z.ZodMiniType>;

/** The parameters that are given, by name. */
export const givenParameters = (values: Partial<Record<Parameter, unknown>>): Parameter[] =>
  PARAMETERS.filter((name) => values[name] !== undefined);
