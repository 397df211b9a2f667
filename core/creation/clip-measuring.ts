import * as z from 'zod/mini';
import { ServiceError } from '../errors.ts';

/** The most characters of a message for a reference video, which callers are shown. */
const MAX_PROBLEM_LENGTH = 200;

/** The length of a reference video, or the message for its field when it cannot be used. */
export const ClipMeasure = z.union([
  z.object({ durationMs: z.int().check(z.gte(0)) }),
  z.object({ problem: z.string().check(z.minLength(1), z.maxLength(MAX_PROBLEM_LENGTH)) }),
]);
export type ClipMeasure = z.infer<typeof ClipMeasure>;

/** The input of the function `measure-clips`: URLs of reference videos. */
export const ClipUrls = z.object({ urls: z.array(z.string()) });
export type ClipUrls = z.infer<typeof ClipUrls>;

/** Its output: a measure for each URL, in their order. */
export const ClipMeasures = z.object({ measures: z.array(ClipMeasure) });
export type ClipMeasures = z.infer<typeof ClipMeasures>;

/** Measures the videos at these URLs, in their order. */
export type MeasureClips = (urls: readonly string[]) => Promise<ClipMeasure[]>;

/** Most measurements take well under a second. */
const RETRY_AFTER_SECONDS = 2;

/** The refusal of a creation whose reference videos cannot be measured now, because too many others are. */
export const tooManyClips = (cause?: unknown): ServiceError =>
  new ServiceError('rate_limited', 'Too many reference videos are being measured at once.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
