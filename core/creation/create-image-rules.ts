import * as z from 'zod/mini';
import { type FieldErrors, ValidationError } from '../errors.ts';
import { listLength, optionalCount, optionalText, parseFields, type Values } from '../fields.ts';
import { findImageModel, type ImageModel } from '../models/catalog.ts';
import { parseExplicitSize, sizeProblem } from '../models/image-sizes.ts';
import { ASPECT_RATIOS } from '../models/size-presets.ts';
import type { AskedOfImages } from '../requests/request-rules.ts';
import {
  COMMON_FIELDS,
  checkParameters,
  checkUrls,
  givenOf,
  type NewCreation,
  optionalUrls,
  PARAMETER_FIELDS,
  type ParsedCreation,
  tooManyUrls,
} from './creation-fields.ts';

/** A creation of images, with every default applied. */
export type NewImageRequest = NewCreation<ImageModel> &
  AskedOfImages & {
    /** Most images it can deliver: `n`, or the limit of a sequential request. */
    images: number;
    sequential: boolean;
  };

const { generateAudio: _, ...IMAGE_PARAMETER_FIELDS } = PARAMETER_FIELDS;

/** The body of a creation of images. Rules across fields and those of a model are checked after it. */
export const IMAGE_BODY = {
  ...COMMON_FIELDS,
  size: optionalText(),
  aspectRatio: z.optional(z.enum(ASPECT_RATIOS, { error: `must be one of ${ASPECT_RATIOS.join(', ')}` })),
  n: optionalCount(),
  references: optionalUrls(),
  sequential: z.optional(z.literal('auto', { error: 'must be auto' })),
  sequentialOptions: z.optional(
    z.strictObject({ maxImages: optionalCount() }, { error: 'must be an object' }),
  ),
  ...IMAGE_PARAMETER_FIELDS,
};

type Given = Partial<Values<typeof IMAGE_BODY>>;

/** Parses the body of a creation of images, reporting every wrong field at once. Never throws. */
export const parseImageRequest = (
  body: Record<string, unknown>,
  allowPrivate: boolean,
  others: FieldErrors = {},
): ParsedCreation<NewImageRequest> => {
  const { values, fields } = parseFields(IMAGE_BODY, body);
  const model = values.model === undefined ? undefined : findImageModel(values.model);
  if (values.model !== undefined && !model) fields.model ??= 'is not an image model';
  checkUrls(body, ['references'], allowPrivate, fields);
  if (model) checkAgainstModel(model, { ...values, referencesGiven: listLength(body.references) }, fields);
  Object.assign(fields, others);
  const { prompt, endUserEmail } = values;
  if (Object.keys(fields).length > 0 || !model || prompt === undefined || endUserEmail === undefined) {
    return { ok: false, error: new ValidationError(fields), model, endUserEmail };
  }
  return { ok: true, creation: withDefaults(model, { ...values, prompt, endUserEmail }) };
};

const checkAgainstModel = (
  model: ImageModel,
  values: Given & { referencesGiven: number },
  fields: FieldErrors,
): void => {
  const { size, aspectRatio, n, referencesGiven, sequential, sequentialOptions } = values;
  const { id, maxImagesPerRequest, maxReferences, capabilities } = model;

  const problem = size === undefined ? undefined : sizeProblem(model, size);
  if (problem) fields.size ??= problem;
  if (size !== undefined && parseExplicitSize(size) && (aspectRatio ?? 'auto') !== 'auto') {
    fields.aspectRatio ??= 'must be auto with an explicit size';
  }

  if (referencesGiven > maxReferences) {
    fields.references = maxReferences === 0 ? `${id} takes no references` : tooManyUrls(maxReferences);
  }

  checkParameters(model, values, fields);
  if (sequential && !capabilities.sequential) fields.sequential ??= `${id} makes no sequences`;
  if (n !== undefined && sequential && n !== 1) fields.n ??= 'must be 1 with sequential';
  else if (n !== undefined && n > maxImagesPerRequest) fields.n ??= `must be at most ${maxImagesPerRequest}`;

  const maxImages = sequentialOptions?.maxImages;
  if (maxImages === undefined) return;
  const field = 'sequentialOptions.maxImages';
  if (!sequential) fields[field] ??= 'is only accepted with sequential';
  else if (maxImages > maxImagesPerRequest) fields[field] ??= `must be at most ${maxImagesPerRequest}`;
  else if (referencesGiven <= maxReferences && maxImages + referencesGiven > maxImagesPerRequest) {
    fields[field] ??=
      `must be at most ${maxImagesPerRequest - referencesGiven} with ${referencesGiven} references`;
  }
};

const withDefaults = (
  model: ImageModel,
  values: Given & { prompt: string; endUserEmail: string },
): NewImageRequest => {
  const { n = 1, sequential, sequentialOptions, ...asked } = values;
  const { references = [] } = asked;
  const sequenceLength = sequentialOptions?.maxImages ?? model.maxImagesPerRequest - references.length;
  return {
    ...{ size: model.defaultSize, aspectRatio: 'auto', references },
    ...givenOf(asked),
    model,
    images: sequential ? sequenceLength : n,
    sequential: sequential !== undefined,
  };
};
