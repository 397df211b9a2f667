import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import * as z from 'zod/mini';
import { MEDIA, ServiceError } from '../errors.ts';

/** The most characters of a message for an input file, which callers are shown. */
const MAX_PROBLEM_LENGTH = 200;
const MAX_TYPE_LENGTH = 100;

const count = () => z.optional(z.int().check(z.gte(0)));

/**
 * The measured facts of an input file, or the message for the field of an unusable file. `extension` is that of a video's copy in
 * the bucket; without it there is no copy, because the video is too long. `status` is the HTTP status of a file that could not be
 * fetched.
 */
export const InputMeasure = z.union([
  z.object({
    contentType: z.string().check(z.minLength(1), z.maxLength(MAX_TYPE_LENGTH)),
    sizeBytes: z.int().check(z.gte(0)),
    width: count(),
    height: count(),
    hasAlpha: z.optional(z.boolean()),
    durationMs: count(),
    framesPerSecond: z.optional(z.number().check(z.gte(0))),
    extension: z.optional(z.enum(FILE_EXTENSIONS.video)),
  }),
  z.object({
    problem: z.string().check(z.minLength(1), z.maxLength(MAX_PROBLEM_LENGTH)),
    status: z.optional(z.int()),
  }),
]);
export type InputMeasure = z.infer<typeof InputMeasure>;

/** A file to measure: its medium, and its URL or bytes. Every video is copied into the bucket. */
const FileToMeasure = z.union([
  z.object({ medium: z.enum(MEDIA), url: z.string() }),
  z.object({ medium: z.enum(MEDIA), base64: z.string() }),
]);
export type FileToMeasure = z.infer<typeof FileToMeasure>;

/** Input of the function `measure-clips`: the files of a request, and the most seconds of a video that is copied. */
export const InputsToMeasure = z.object({
  requestId: z.string(),
  files: z.array(FileToMeasure),
  longestSeconds: z.number(),
});
export type InputsToMeasure = z.infer<typeof InputsToMeasure>;

/** Input to remove copies left by a refused request; `left` is the number of its reference videos. */
const LeftClips = z.object({ requestId: z.string(), left: z.int().check(z.gte(1)) });

/** The input of `measure-clips`. */
export const MeasuringWork = z.union([InputsToMeasure, LeftClips]);
export type MeasuringWork = z.infer<typeof MeasuringWork>;

/** The output of `measure-clips`: a measure for each file, in order; empty for a removal. */
export const InputMeasures = z.object({ measures: z.array(InputMeasure) });
export type InputMeasures = z.infer<typeof InputMeasures>;

/** Most measurements take well under a second. */
const RETRY_AFTER_SECONDS = 2;

/** The refusal of a creation whose input files cannot be measured now, because too many others are. */
export const tooManyInputs = (cause?: unknown): ServiceError =>
  new ServiceError('rate_limited', 'Too many input files are being measured at once.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
