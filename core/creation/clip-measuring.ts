import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import * as z from 'zod/mini';
import { ServiceError } from '../errors.ts';

/** The most characters of a message for a reference video, which callers are shown. */
const MAX_PROBLEM_LENGTH = 200;

/**
 * The length of a reference video, or the message for its field when it cannot be used. `extension` is that of its copy in the
 * bucket; without one there is no copy, because it is too long.
 */
export const ClipMeasure = z.union([
  z.object({
    durationMs: z.int().check(z.gte(0)),
    extension: z.optional(z.enum(FILE_EXTENSIONS.video)),
  }),
  z.object({ problem: z.string().check(z.minLength(1), z.maxLength(MAX_PROBLEM_LENGTH)) }),
]);
export type ClipMeasure = z.infer<typeof ClipMeasure>;

/**
 * Input of the function `measure-clips`: the reference videos of a request, and the limit in seconds for
 * each.
 */
export const Clips = z.object({
  requestId: z.string(),
  urls: z.array(z.string()),
  longestSeconds: z.number(),
});
export type Clips = z.infer<typeof Clips>;

/** Input to remove copies left by a refused request; `left` is the number of its reference videos. */
const LeftClips = z.object({ requestId: z.string(), left: z.int().check(z.gte(1)) });

/** Its input. */
export const ClipWork = z.union([Clips, LeftClips]);
export type ClipWork = z.infer<typeof ClipWork>;

/** Its output: a measure for each URL, in their order; none for a removal. */
export const ClipMeasures = z.object({ measures: z.array(ClipMeasure) });
export type ClipMeasures = z.infer<typeof ClipMeasures>;

/** Most measurements take well under a second. */
const RETRY_AFTER_SECONDS = 2;

/** The refusal of a creation whose reference videos cannot be measured now, because too many others are. */
export const tooManyClips = (cause?: unknown): ServiceError =>
  new ServiceError('rate_limited', 'Too many reference videos are being measured at once.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
