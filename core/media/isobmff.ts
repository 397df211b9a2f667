import {
  addFragment,
  framesOf,
  type Movie,
  mediaSecondsOf,
  pictureOf,
  readMovie,
  secondsOf,
} from './isobmff-movie.ts';
import {
  bytesAfter,
  type RandomAccessFile,
  readIndex,
  requireWithin,
  UnreadableVideoError,
  type VideoIndex,
} from './video-bytes.ts';

/** Most top-level boxes read. A fragmented file has two for each fragment. */
const MAX_BOXES = 10_000;
/** Size and type, and the long size that may follow (ISO/IEC 14496-12, 4.2). */
const MAX_HEADER_BYTES = 16;
const MIN_HEADER_BYTES = 8;

interface TopBox {
  type: string;
  contentStart: number;
  /** Infinite when the box extends to the end of a file of unknown size. */
  end: number;
}

/**
 * Reads the index of an MP4 or QuickTime file (ISO/IEC 14496-12), wherever it is, fragmented or not, without
 * media data. Tables are summed in place and never expanded: a few bytes can claim billions of samples. Reads on to the
 * last box, so that nothing behind the media goes unseen, unless the video is longer than `enoughSeconds` already.
 * Throws `UnreadableVideoError`, and Node's range error for a truncated table.
 */
export const readIsobmffIndex = async (
  file: RandomAccessFile,
  enoughSeconds: number,
): Promise<VideoIndex> => {
  let movie: Movie | undefined;
  let hasMedia = false;
  let position = 0;
  for (let count = 0; count < MAX_BOXES; count++) {
    const box = await topBoxAt(file, position);
    if (!box) break;
    if (box.type === 'moov') {
      // Players differ in which of two they take.
      if (movie) throw new UnreadableVideoError('is damaged');
      movie = readMovie(await readIndex(file, box.contentStart, box.end));
    } else if (box.type === 'moof' && movie) {
      addFragment(movie, await readIndex(file, box.contentStart, box.end));
    } else if (box.type === 'mdat') {
      hasMedia = true;
      if (Number.isFinite(box.end)) requireWithin(file, box.end);
    }
    if (movie && secondsOf(movie) > enoughSeconds) return indexOf(movie);
    if (!Number.isFinite(box.end)) break;
    position = box.end;
  }
  if (!movie || !hasMedia) throw new UnreadableVideoError('is cut off');
  return indexOf(movie);
};

const indexOf = (movie: Movie): VideoIndex => {
  const picture = pictureOf(movie);
  if (!picture) throw new UnreadableVideoError('holds no video');
  const [seconds, mediaSeconds] = [secondsOf(movie), mediaSecondsOf(movie)];
  return { seconds, mediaSeconds, frames: framesOf(movie), ...picture };
};

/** The box at a position; undefined at the end of the file. Throws `UnreadableVideoError` where the box before it is cut off. */
const topBoxAt = async (file: RandomAccessFile, position: number): Promise<TopBox | undefined> => {
  const header = await bytesAfter(file, position, MAX_HEADER_BYTES);
  if (header.byteLength < MIN_HEADER_BYTES) return undefined;
  const type = header.toString('latin1', 4, 8);
  const shortSize = header.readUInt32BE(0);
  if (shortSize === 0) {
    const end = file.sizeBytes() ?? Number.POSITIVE_INFINITY;
    return { type, contentStart: position + MIN_HEADER_BYTES, end };
  }
  const isLong = shortSize === 1;
  const size = isLong ? Number(header.readBigUInt64BE(8)) : shortSize;
  const headerBytes = isLong ? MAX_HEADER_BYTES : MIN_HEADER_BYTES;
  if (size < headerBytes) throw new UnreadableVideoError('is damaged');
  return { type, contentStart: position + headerBytes, end: position + size };
};
