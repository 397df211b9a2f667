import * as z from 'zod/mini';
import { ASPECT_RATIOS, type AspectRatio, findImageModel, type ImageModel } from './catalog.ts';
import { allowPrivateTargets } from './environment.ts';
import { type FieldErrors, ValidationError } from './errors.ts';
import { parseExplicitSize, sizeProblem } from './image-sizes.ts';
import { emailField, optionalInteger, optionalText, parseFields, text, urlProblem } from './validation.ts';

/** Longest prompt, in characters (code points) after trimming. */
export const MAX_PROMPT_CHARACTERS = 4000;

/** What a creation of images asks for, with every default applied. */
export interface NewGeneration {
  model: ImageModel;
  prompt: string;
  endUserEmail: string;
  /** A preset of the model, or `<width>x<height>`. */
  size: string;
  aspectRatio: AspectRatio;
  /** The most images it can deliver: `n`, or what a sequential request may yield. */
  images: number;
  sequential: boolean;
  references: string[];
  webhookUrl: string | undefined;
}

const urls = () =>
  z.array(z.string({ error: 'must be a string' }), {
    error: 'must be an array of URLs',
  });

const promptField = () =>
  z.pipe(
    z.pipe(
      text(),
      z.transform((prompt: string) => prompt.trim()),
    ),
    z.string().check(
      z.refine((prompt) => prompt.length > 0, { error: 'must not be empty' }),
      z.refine((prompt) => [...prompt].length <= MAX_PROMPT_CHARACTERS, {
        error: `must be at most ${MAX_PROMPT_CHARACTERS} characters`,
      }),
      z.refine((prompt) => prompt.isWellFormed(), { error: 'must be well-formed Unicode' }),
    ),
  );

const shape = {
  model: text(),
  prompt: promptField(),
  endUserEmail: emailField(),
  size: optionalText(),
  aspectRatio: z.optional(z.enum(ASPECT_RATIOS, { error: `must be one of ${ASPECT_RATIOS.join(', ')}` })),
  n: optionalInteger(1, 'must be at least 1'),
  references: z.optional(urls()),
  sequential: z.optional(z.literal('auto', { error: 'must be auto' })),
  sequentialOptions: z.optional(
    z.strictObject({ maxImages: optionalInteger(1, 'must be at least 1') }, { error: 'must be an object' }),
  ),
  webhookUrl: optionalText(),
};

type Values = ReturnType<typeof parseFields<typeof shape>>['values'];

/** A body that has been read: complete, or what is wrong with it, field by field. */
export type ParsedGeneration =
  | { ok: true; generation: NewGeneration }
  | { ok: false; error: ValidationError; model: string | undefined; endUserEmail: string | undefined };

/** Reads the body of a creation of images. Finds every wrong field at once; never throws. */
export const parseGeneration = (body: Record<string, unknown>): ParsedGeneration => {
  const { values, fields } = parseFields(shape, body);
  const model = values.model === undefined ? undefined : findImageModel(values.model);
  if (values.model !== undefined && !model) fields.model ??= 'is not an image model';
  checkUrls(body, values, fields);
  if (model) checkAgainstModel(model, values, fields);
  const { prompt, endUserEmail } = values;
  if (Object.keys(fields).length > 0 || !model || prompt === undefined || endUserEmail === undefined) {
    return { ok: false, error: new ValidationError(fields), model: values.model, endUserEmail };
  }
  return { ok: true, generation: withDefaults(model, { ...values, prompt, endUserEmail }) };
};

/** The same creation when something beside its body is wrong as well, or nothing is. */
export const alsoWrong = (parsed: ParsedGeneration, fields: FieldErrors): ParsedGeneration => {
  if (Object.keys(fields).length === 0) return parsed;
  const { model, endUserEmail, wrong } = parsed.ok
    ? { model: parsed.generation.model.id, endUserEmail: parsed.generation.endUserEmail, wrong: {} }
    : { ...parsed, wrong: parsed.error.fields };
  return { ok: false, error: new ValidationError({ ...wrong, ...fields }), model, endUserEmail };
};

/** Looks at the references as they were given: one that is no text must not hide what is wrong with the others. */
const checkUrls = (body: Record<string, unknown>, { webhookUrl }: Values, fields: FieldErrors): void => {
  const allowLoopbackHttp = allowPrivateTargets();
  const references: unknown[] = Array.isArray(body.references) ? body.references : [];
  references.forEach((reference, index) => {
    const problem = typeof reference === 'string' ? urlProblem(reference, allowLoopbackHttp) : undefined;
    if (problem) fields[`references[${index}]`] ??= problem;
  });
  const problem = webhookUrl === undefined ? undefined : urlProblem(webhookUrl, allowLoopbackHttp);
  if (problem) fields.webhookUrl ??= problem;
};

const checkAgainstModel = (model: ImageModel, values: Values, fields: FieldErrors): void => {
  const { size, aspectRatio, n, references = [], sequential, sequentialOptions } = values;
  const { id, maxImagesPerRequest, maxReferences, capabilities } = model;

  const wrongSize = size === undefined ? undefined : sizeProblem(model, size);
  if (wrongSize) fields.size ??= wrongSize;
  if (size !== undefined && parseExplicitSize(size) && (aspectRatio ?? 'auto') !== 'auto') {
    fields.aspectRatio ??= 'must be auto with an explicit size';
  }

  if (references.length > maxReferences) {
    fields.references ??=
      maxReferences === 0 ? `${id} takes no references` : `must hold at most ${maxReferences} URLs`;
  }

  if (sequential && !capabilities.sequential) fields.sequential ??= `${id} makes no sequences`;
  if (n !== undefined && sequential && n !== 1) fields.n ??= 'must be 1 with sequential';
  else if (n !== undefined && n > maxImagesPerRequest) fields.n ??= `must be at most ${maxImagesPerRequest}`;

  const maxImages = sequentialOptions?.maxImages;
  if (maxImages === undefined) return;
  const field = 'sequentialOptions.maxImages';
  if (!sequential) fields[field] ??= 'is only accepted with sequential';
  else if (maxImages > maxImagesPerRequest) fields[field] ??= `must be at most ${maxImagesPerRequest}`;
  else if (maxImages + references.length > maxImagesPerRequest) {
    fields[field] ??=
      `must be at most ${maxImagesPerRequest - references.length} with ${references.length} references`;
  }
};

const withDefaults = (
  model: ImageModel,
  values: Values & { prompt: string; endUserEmail: string },
): NewGeneration => {
  const { references = [], sequential, sequentialOptions } = values;
  const sequenceLength = sequentialOptions?.maxImages ?? model.maxImagesPerRequest - references.length;
  return {
    model,
    prompt: values.prompt,
    endUserEmail: values.endUserEmail,
    size: values.size ?? model.defaultSize,
    aspectRatio: values.aspectRatio ?? 'auto',
    images: sequential ? sequenceLength : (values.n ?? 1),
    sequential: sequential !== undefined,
    references,
    webhookUrl: values.webhookUrl,
  };
};
