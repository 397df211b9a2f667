import { measureAudio, UnreadableAudioError } from '@generation-service/media/measure-audio';
import { measurePicture } from '@generation-service/media/measure-picture';
import { hasPictureEnd } from '@generation-service/media/picture-end';
import { UnreadableVideoError } from '@generation-service/media/video-type';
import { allEnded } from '../concurrency/in-parallel.ts';
import type { Medium } from '../errors.ts';
import { ClipTooLongError, copyClip } from '../files/copy-clip.ts';
import { FileNotFetchedError, fetchFile } from '../files/fetch-file.ts';
import { clipObjectKey } from '../object-keys.ts';
import { logger } from '../observability.ts';
import type { FileToMeasure, InputMeasure, InputsToMeasure } from './input-measuring.ts';

/** Limit on fetching all files of a request together. */
const TIME_LIMIT_MS = 8_000;

/** More than any provider takes: the rest is not fetched. */
const MAX_BYTES = { image: 32 * 1024 * 1024, audio: 16 * 1024 * 1024 };

/** The message for a file that is no image of a type that providers take. */
class UnreadableImageError extends Error {
  override name = 'UnreadableImageError';
}

/**
 * Measures the input files of a request by their bytes, in parallel, and copies its videos into the bucket as they pass; results
 * are in the files' order. Takes at most 8 s in all, or until `signal` aborts. Rejects when the bucket does not take a copy,
 * never because of a caller's server. A URL that the service refuses to call gives the same result as a server without an answer,
 * so callers learn nothing about internal addresses.
 */
export const measureInputs = async (
  { requestId, files, longestSeconds }: InputsToMeasure,
  signal: AbortSignal = AbortSignal.timeout(TIME_LIMIT_MS),
): Promise<InputMeasure[]> => {
  let videos = 0;
  return allEnded(
    files.map((file) => {
      const { medium } = file;
      if (medium !== 'video') return measured(signal, () => measureWhole(file, medium, signal));
      const index = videos++;
      return measured(signal, () => measureCopy(file, { requestId, index, longestSeconds, signal }));
    }),
  );
};

const measured = async (signal: AbortSignal, measure: () => Promise<InputMeasure>): Promise<InputMeasure> => {
  try {
    return await measure();
  } catch (error) {
    const problem = problemOf(error, signal);
    if (problem === undefined) throw error;
    logger.info('an input file could not be measured', { error: error as Error });
    const status = error instanceof FileNotFetchedError ? error.status : undefined;
    return { problem, ...(status !== undefined && { status }) };
  }
};

/** Copies a video, and measures the same bytes. */
const measureCopy = async (
  file: FileToMeasure,
  { requestId, index, longestSeconds, signal }: Copy,
): Promise<InputMeasure> => {
  if (!('url' in file)) throw new UnreadableVideoError('is not given by a URL');
  const keyOf = ({ extension }: { extension: string }) => clipObjectKey(requestId, index, extension);
  try {
    const { durationSec, extension, ...facts } = await copyClip({
      ...{ url: file.url, keyOf, longestSeconds, signal },
    });
    return { ...facts, durationMs: toMilliseconds(durationSec), extension };
  } catch (error) {
    if (!(error instanceof ClipTooLongError)) throw error;
    const { contentType, durationSec } = error;
    return { contentType, sizeBytes: 0, durationMs: toMilliseconds(durationSec) };
  }
};

interface Copy {
  requestId: string;
  index: number;
  longestSeconds: number;
  signal: AbortSignal;
}

/** Reads an image or a sound into memory, and measures it. */
const measureWhole = async (
  file: FileToMeasure,
  medium: Exclude<Medium, 'video'>,
  signal: AbortSignal,
): Promise<InputMeasure> => {
  const bytes =
    'url' in file ? await fetchFile(file.url, MAX_BYTES[medium], signal) : Buffer.from(file.base64, 'base64');
  const sizeBytes = bytes.byteLength;
  if (medium === 'audio') {
    const { contentType, durationSec } = measureAudio(bytes);
    return { contentType, sizeBytes, durationMs: toMilliseconds(durationSec) };
  }
  const picture = measurePicture(bytes);
  if (!picture) throw new UnreadableImageError('is not an image that can be read');
  if (!hasPictureEnd(picture.contentType, bytes)) throw new UnreadableImageError('is cut off');
  return { ...picture, sizeBytes };
};

const toMilliseconds = (seconds: number): number => Math.round(seconds * 1_000);

const UNREADABLE = [UnreadableVideoError, UnreadableAudioError, UnreadableImageError];

/** Why a file cannot be used; undefined for an error that neither the file's server nor its bytes caused. */
const problemOf = (error: unknown, signal: AbortSignal): string | undefined => {
  if (UNREADABLE.some((kind) => error instanceof kind)) return (error as Error).message;
  if (signal.aborted) return 'could not be measured in time';
  return error instanceof FileNotFetchedError ? error.message : undefined;
};
