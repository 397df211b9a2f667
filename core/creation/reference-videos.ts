import { measureVideo } from '../media/measure-video.ts';
import { UnreadableVideoError } from '../media/video-bytes.ts';
import { logger } from '../observability.ts';
import { rangedHttpFile, UnreadableFileError } from '../outbound/ranged-http-file.ts';
import type { ClipMeasure } from './create-video-rules.ts';

/** How long measuring all videos of a request may take. */
const TIME_LIMIT_MS = 8_000;

/**
 * Measures the videos at the URLs a caller gave, all at once, each by its index alone. In their order, and
 * within 8 s for all of them together, or until `signal` ends it. Never rejects for what their servers do, and
 * never tells what stands behind a URL that is not called: such a one could not be fetched, like others.
 */
export const measureReferenceVideos = async (
  urls: readonly string[],
  signal: AbortSignal = AbortSignal.timeout(TIME_LIMIT_MS),
): Promise<ClipMeasure[]> => Promise.all(urls.map((url) => measureReference(url, signal)));

const measureReference = async (url: string, signal: AbortSignal): Promise<ClipMeasure> => {
  const file = rangedHttpFile(url, signal);
  try {
    const { durationSec } = await measureVideo(file);
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
