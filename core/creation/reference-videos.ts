import { measureClip } from '../media/measure-video.ts';
import { UnreadableVideoError } from '../media/video-bytes.ts';
import { logger } from '../observability.ts';
import { rangedHttpFile, UnreadableFileError } from '../outbound/ranged-http-file.ts';
import type { ClipMeasure } from './clip-measuring.ts';

/** Limit on measuring all videos of a request together. */
const TIME_LIMIT_MS = 8_000;

/**
 * Measures the videos at a caller's URLs in parallel, reading only the index of each; results are in the URLs'
 * order. Takes at most 8 s in all, or until `signal` aborts. Never rejects because of a server. A URL that the
 * service refuses to call reads like any other that could not be fetched, so callers learn nothing about it.
 */
export const measureReferenceVideos = async (
  urls: readonly string[],
  signal: AbortSignal = AbortSignal.timeout(TIME_LIMIT_MS),
): Promise<ClipMeasure[]> => Promise.all(urls.map((url) => measureReference(url, signal)));

const measureReference = async (url: string, signal: AbortSignal): Promise<ClipMeasure> => {
  const file = rangedHttpFile(url, signal);
  try {
    const { durationSec } = await measureClip(file);
    return { durationMs: Math.round(durationSec * 1_000) };
  } catch (error) {
    logger.info('a reference video could not be measured', { error: error as Error });
    return { problem: problemOf(error, signal) };
  } finally {
    await file.close();
  }
};

const problemOf = (error: unknown, signal: AbortSignal): string => {
  if (error instanceof UnreadableVideoError) return error.message;
  if (signal.aborted) return 'could not be measured in time';
  return error instanceof UnreadableFileError ? error.message : 'could not be fetched';
};
