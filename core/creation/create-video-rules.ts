import { type FieldErrors, ValidationError } from '../errors.ts';
import { listLength, optionalCount, optionalText, parseFields, type Values } from '../fields.ts';
import { findVideoModel, type VideoModel } from '../models/catalog.ts';
import { lasts, rangeOf, togetherProblem } from '../provider-calls/input-limits.ts';
import type { AskedOfVideo } from '../requests/request-rules.ts';
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

/** A creation of a video, with every default applied. Frames and references are URLs. */
export type NewVideoRequest = NewCreation<VideoModel> & AskedOfVideo;

/** The body of a creation of a video. Rules across fields and those of a model are checked after it. */
export const VIDEO_BODY = {
  ...COMMON_FIELDS,
  resolution: optionalText(),
  durationSec: optionalCount(),
  image: optionalText(),
  lastFrame: optionalText(),
  referenceImages: optionalUrls(),
  referenceVideos: optionalUrls(),
  referenceAudios: optionalUrls(),
  ratio: optionalText(),
  ...PARAMETER_FIELDS,
};

type Given = Partial<Values<typeof VIDEO_BODY>>;

/** The fields of frames, each with the input mode it needs. */
export const FRAMES = { image: 'first_frame', lastFrame: 'last_frame' } as const;

/** The reference fields, each with the input mode it needs and the catalog limit on its length. */
export const REFERENCES = {
  referenceImages: { mode: 'reference_images', limit: 'maxReferenceImages' },
  referenceVideos: { mode: 'reference_videos', limit: 'maxReferenceVideos' },
  referenceAudios: { mode: 'reference_audios', limit: 'maxReferenceAudios' },
} as const satisfies Record<string, { mode: string; limit: keyof VideoModel }>;
type ReferenceField = keyof typeof REFERENCES;
const REFERENCE_FIELDS = Object.keys(REFERENCES) as ReferenceField[];

/**
 * Parses the body of a creation of a video, reporting every wrong field at once. Never throws. Does not measure the
 * reference videos.
 */
export const parseVideoRequest = (
  body: Record<string, unknown>,
  allowPrivate: boolean,
  others: FieldErrors = {},
): ParsedCreation<NewVideoRequest> => {
  const { values, fields } = parseFields(VIDEO_BODY, body);
  const model = values.model === undefined ? undefined : findVideoModel(values.model);
  if (values.model !== undefined && !model) fields.model ??= 'is not a video model';
  checkUrls(body, [...Object.keys(FRAMES), ...REFERENCE_FIELDS], allowPrivate, fields);
  if (model) checkAgainstModel(model, body, values, fields);
  Object.assign(fields, others);
  const { prompt, endUserEmail } = values;
  if (Object.keys(fields).length > 0 || !model || prompt === undefined || endUserEmail === undefined) {
    return { ok: false, error: new ValidationError(fields), model, endUserEmail };
  }
  return { ok: true, creation: withDefaults(model, { ...values, prompt, endUserEmail }) };
};

const checkAgainstModel = (
  model: VideoModel,
  body: Record<string, unknown>,
  values: Given,
  fields: FieldErrors,
): void => {
  const { resolution, durationSec, ratio } = values;
  const { min, max } = model.durationSec;
  if (resolution !== undefined && !model.resolutions.includes(resolution)) {
    fields.resolution ??= `must be one of ${model.resolutions.join(', ')}`;
  }
  if (durationSec !== undefined && (durationSec < min || durationSec > max)) {
    fields.durationSec ??= `must be from ${min} to ${max}`;
  }
  if (ratio !== undefined && !model.ratios?.includes(ratio)) {
    fields.ratio ??= model.ratios
      ? `must be one of ${model.ratios.join(', ')}`
      : `${model.id} takes no ratio`;
  }
  checkParameters(model, values, fields);
  checkFrames(model, values, fields);
  for (const field of REFERENCE_FIELDS)
    checkReferences(model, field, { ...values, given: listLength(body[field]) }, fields);
};

/** Whether a model takes inputs of this mode. */
export const takes = (model: Pick<VideoModel, 'inputModes'>, mode: string): boolean =>
  model.inputModes?.includes(mode) ?? false;

const checkFrames = (model: VideoModel, { image, lastFrame }: Given, fields: FieldErrors): void => {
  if (model.requiresImage) {
    if (image === undefined) fields.image ??= 'is required';
  } else if (image !== undefined && !takes(model, FRAMES.image)) {
    fields.image ??= `${model.id} takes no first frame`;
  }
  if (lastFrame === undefined) return;
  if (!takes(model, FRAMES.lastFrame)) fields.lastFrame ??= `${model.id} takes no last frame`;
  else if (image === undefined) fields.lastFrame ??= 'is only accepted together with image';
};

const checkReferences = (
  model: VideoModel,
  field: ReferenceField,
  values: Given & { given: number },
  fields: FieldErrors,
): void => {
  const { mode, limit } = REFERENCES[field];
  if (values.given === 0) return;
  const most = model[limit] ?? 0;
  if (!takes(model, mode)) fields[field] = `${model.id} takes none`;
  else if (values.given > most) fields[field] = tooManyUrls(most);
  // The providers take either frames or references, and say so only when the task has failed.
  else if (values[field] && (values.image !== undefined || values.lastFrame !== undefined)) {
    fields[field] ??= 'cannot be combined with image or lastFrame';
  }
};

const withDefaults = (
  model: VideoModel,
  values: Given & { prompt: string; endUserEmail: string },
): NewVideoRequest => {
  const { defaultResolution: resolution, defaultRatio: ratio, durationSec } = model;
  return {
    ...{ resolution, durationSec: durationSec.default, ...(ratio !== undefined && { ratio }) },
    ...{ referenceImages: [], referenceVideos: [], referenceAudios: [] },
    ...givenOf(values),
    model,
  };
};

/** The length of a reference video as measured, or why it cannot be used. */
type ClipLength = { durationMs?: number | undefined } | { problem: string };

/** The limits of a model on the length of reference videos, and of its routes on all of them together. */
export interface ClipLimits extends Pick<VideoModel, 'referenceVideoMaxSeconds' | 'maxCombinedSeconds'> {
  routeSeconds?: number;
}

/**
 * Messages for reference videos that are too long: alone, together, or together with the output.
 * Compares milliseconds. The messages have the measured length.
 */
export const clipProblems = (
  durationSec: number,
  measures: readonly ClipLength[],
  { referenceVideoMaxSeconds: longest, maxCombinedSeconds: together, routeSeconds }: ClipLimits,
): FieldErrors => {
  const fields: FieldErrors = {};
  measures.forEach((measure, index) => {
    const name = `referenceVideos[${index}]`;
    if ('problem' in measure) fields[name] = measure.problem;
    else if (longest !== undefined && lengthOf(measure) > longest * 1000) {
      fields[name] = lasts(lengthOf(measure), rangeOf(undefined, longest));
    }
  });
  const tooLong = togetherProblem([{ durationMs: totalMs(measures) }], 'video', {
    maxTotalSeconds: routeSeconds,
  });
  if (tooLong) fields.referenceVideos = tooLong;
  const combinedMs = durationSec * 1000 + totalMs(measures);
  if (together !== undefined && combinedMs > together * 1000) {
    const most = `with the output of ${durationSec} s the model takes up to ${together} s`;
    fields.referenceVideos = `last ${totalMs(measures) / 1000} s together; ${most}`;
  }
  return fields;
};

/** Seconds to bill: those of the output plus the total of the reference videos, rounded up. */
export const billedSeconds = (durationSec: number, measures: readonly ClipLength[]): number =>
  durationSec + Math.ceil(totalMs(measures) / 1000);

const totalMs = (measures: readonly ClipLength[]): number =>
  measures.reduce((sum, measure) => sum + lengthOf(measure), 0);

const lengthOf = (measure: ClipLength): number => ('durationMs' in measure ? (measure.durationMs ?? 0) : 0);
