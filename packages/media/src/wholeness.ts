import { CUT_OFF, UnreadableVideoError } from './video-type.ts';

/** The bytes of a file from a position on; fewer at its end. */
export type ReadAt = (position: number, count: number) => Buffer;

/** Size and type of a box, and the long size that may follow (ISO/IEC 14496-12, 4.2). */
const MAX_BOX_HEADER_BYTES = 16;
const MIN_BOX_HEADER_BYTES = 8;

/**
 * The longest duration in the movie headers of an MP4 or QuickTime file, in seconds. FFmpeg 5 reports it, newer versions ignore it. Throws
 * `UnreadableVideoError` unless the outermost boxes end with the file and one of them is an index. Of two indexes, some demuxers take the
 * first and some the last.
 */
export const secondsOfWholeBoxes = (readAt: ReadAt, sizeBytes: number): number => {
  let [indexes, seconds] = [0, 0];
  for (let position = 0; position < sizeBytes; ) {
    const { type, end } = boxAt(readAt, position, sizeBytes);
    if (type === 'moov' && ++indexes > 1) throw new UnreadableVideoError('is damaged');
    if (type !== 'mdat') seconds = Math.max(seconds, secondsSaid(readAt, position, end));
    position = end;
  }
  if (indexes === 0) throw new UnreadableVideoError(CUT_OFF);
  return seconds;
};

const boxAt = (readAt: ReadAt, position: number, sizeBytes: number): { type: string; end: number } => {
  const header = readAt(position, MAX_BOX_HEADER_BYTES);
  const isLong = header.byteLength >= MIN_BOX_HEADER_BYTES && header.readUInt32BE(0) === 1;
  const headerBytes = isLong ? MAX_BOX_HEADER_BYTES : MIN_BOX_HEADER_BYTES;
  if (header.byteLength < headerBytes) throw new UnreadableVideoError(CUT_OFF);
  const rest = sizeBytes - position;
  const size = isLong ? Number(header.readBigUInt64BE(8)) : header.readUInt32BE(0) || rest;
  if (size < headerBytes) throw new UnreadableVideoError('is damaged');
  if (size > rest) throw new UnreadableVideoError(CUT_OFF);
  return { type: header.toString('latin1', 4, 8), end: position + size };
};

/** Bytes searched at once, and those of a header from its type to its duration (ISO/IEC 14496-12, 8.2.2). */
const WINDOW_BYTES = 256 * 1024;
const MOVIE_HEADER_BYTES = 36;

/** The longest that any movie header between two positions says, wherever it is nested. */
const secondsSaid = (readAt: ReadAt, start: number, end: number): number => {
  let seconds = 0;
  for (let position = start; position < end; position += WINDOW_BYTES) {
    const bytes = readAt(position, Math.min(WINDOW_BYTES + MOVIE_HEADER_BYTES, end - position));
    for (let at = bytes.indexOf('mvhd'); at !== -1; at = bytes.indexOf('mvhd', at + 1)) {
      const header = bytes.subarray(at, at + MOVIE_HEADER_BYTES);
      if (header.byteLength === MOVIE_HEADER_BYTES) seconds = Math.max(seconds, secondsOfHeader(header));
    }
  }
  return seconds;
};

/** All bits set, for an unknown duration, are millions of seconds: FFmpeg 5 reports those too. */
const secondsOfHeader = (header: Buffer): number => {
  const isLong = header.readUInt8(4) === 1;
  const duration = isLong ? Number(header.readBigUInt64BE(28)) : header.readUInt32BE(20);
  return duration / Math.max(1, header.readInt32BE(isLong ? 24 : 16));
};

/** Bytes of an element's id, and of an id and its size (RFC 9559, 5.1; RFC 8794, 5 and 6). */
const ID_BYTES = 4;
const MAX_ELEMENT_HEADER_BYTES = 12;

/** Throws `UnreadableVideoError` for a Matroska file whose segment says its size and does not end where the file does. */
export const requireWholeSegment = (readAt: ReadAt, sizeBytes: number): void => {
  const end = elementEnd(readAt, elementEnd(readAt, 0) ?? 0) ?? sizeBytes;
  if (end > sizeBytes) throw new UnreadableVideoError(CUT_OFF);
  if (end < sizeBytes) throw new UnreadableVideoError('is damaged');
};

/** Where the element at a position ends; undefined where its size is unknown, as in live recordings. */
const elementEnd = (readAt: ReadAt, position: number): number | undefined => {
  const header = readAt(position, MAX_ELEMENT_HEADER_BYTES);
  const sizeLength = Math.clz32(header[ID_BYTES] ?? 0) - 23;
  if (sizeLength > 8 || header.byteLength < ID_BYTES + sizeLength) throw new UnreadableVideoError(CUT_OFF);
  const content = position + ID_BYTES + sizeLength;
  const first = header.readUInt8(ID_BYTES) & (0xff >> sizeLength);
  const rest = header.subarray(ID_BYTES + 1, ID_BYTES + sizeLength);
  const isUnknown = first === 0xff >> sizeLength && rest.every((byte) => byte === 0xff);
  return isUnknown ? undefined : rest.reduce((size, byte) => size * 256 + byte, first) + content;
};
