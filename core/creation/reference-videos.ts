import { UnreadableVideoError } from '@generation-service/media/video-type';
import { allEnded } from '../concurrency/in-parallel.ts';
import { ClipNotCopiedError, ClipTooLongError, copyClip } from '../files/copy-clip.ts';
import { clipObjectKey } from '../object-keys.ts';
import { logger } from '../observability.ts';
import type { ClipMeasure, Clips } from './clip-measuring.ts';

/** Limit on fetching all videos of a request together. */
const TIME_LIMIT_MS = 8_000;

/**
 * Copies the videos at a caller's URLs into the bucket and measures them as they pass, in parallel; results are in the URLs'
 * order. Takes at most 8 s in all, or until `signal` aborts. Rejects when the bucket does not take a copy, never because of a
 * caller's server. A URL that the service refuses to call reads like any other that could not be fetched, so callers learn
 * nothing about it.
 */
export const copyReferenceVideos = async (
  { requestId, urls, longestSeconds }: Clips,
  signal: AbortSignal = AbortSignal.timeout(TIME_LIMIT_MS),
): Promise<ClipMeasure[]> =>
  allEnded(
    urls.map((url, index) =>
      measureCopy(
        { url, keyOf: ({ extension }) => clipObjectKey(requestId, index, extension), longestSeconds, signal },
        signal,
      ),
    ),
  );

const measureCopy = async (
  clip: Parameters<typeof copyClip>[0],
  signal: AbortSignal,
): Promise<ClipMeasure> => {
  try {
    const { durationSec, extension } = await copyClip(clip);
    return { durationMs: toMilliseconds(durationSec), extension };
  } catch (error) {
    if (error instanceof ClipTooLongError) return { durationMs: toMilliseconds(error.durationSec) };
    const problem = problemOf(error, signal);
    if (problem === undefined) throw error;
    logger.info('a reference video could not be copied', { error: error as Error });
    return { problem };
  }
};

const toMilliseconds = (seconds: number): number => Math.round(seconds * 1_000);

/** Why a reference video cannot be used; undefined when that is not for its server or its bytes. */
const problemOf = (error: unknown, signal: AbortSignal): string | undefined => {
  if (error instanceof UnreadableVideoError) return error.message;
  if (signal.aborted) return 'could not be measured in time';
  return error instanceof ClipNotCopiedError ? error.message : undefined;
};
