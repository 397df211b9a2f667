import { CUT_OFF, DAMAGED, UnreadableVideoError } from './video-type.ts';

/** The bytes of a file from a position on; fewer at its end. */
export type ReadAt = (position: number, count: number) => Buffer;

/** Size and type of a box, and the long size that may follow (ISO/IEC 14496-12, 4.2). */
const MAX_BOX_HEADER_BYTES = 16;
const MIN_BOX_HEADER_BYTES = 8;

/** What the boxes of an MP4 or QuickTime file say. */
export interface WholeBoxes {
  /** The longest duration in the movie headers, in seconds. FFmpeg 5 reports it, newer versions ignore it. */
  seconds: number;
  /**
   * The samples of each track, if the media box is longer than the file: some cameras and editors write so, and the file is whole if it
   * has all of them.
   */
  neededSamples: number[];
  /** Whether the file carries a C2PA manifest. Nothing verifies the manifest. */
  hasManifest: boolean;
}

/** The type of a box with a manifest, and its purpose after a version (C2PA 2.2, A.5: embedding manifests into BMFF). */
const MANIFEST_BOX = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex');
const MANIFEST_PURPOSE = 'manifest\0';
const VERSION_BYTES = 4;

/** Whether a box holds a manifest: its type is of 16 bytes, behind its head. */
const holdsManifest = (readAt: ReadAt, { type, contentAt }: Box): boolean => {
  if (type !== 'uuid') return false;
  const head = readAt(contentAt, MANIFEST_BOX.byteLength + VERSION_BYTES + MANIFEST_PURPOSE.length);
  return (
    head.subarray(0, MANIFEST_BOX.byteLength).equals(MANIFEST_BOX) &&
    head.toString('latin1', MANIFEST_BOX.byteLength + VERSION_BYTES) === MANIFEST_PURPOSE
  );
};

/**
 * Reads the outermost boxes of an MP4 or QuickTime file. Throws `UnreadableVideoError` unless they end with the file, a media box aside, and
 * one of them is an index. Of two indexes, some demuxers take the first and some the last.
 */
export const readWholeBoxes = (readAt: ReadAt, sizeBytes: number): WholeBoxes => {
  const boxes: WholeBoxes = { seconds: 0, neededSamples: [], hasManifest: false };
  let index: Box | undefined;
  let isFragmented = false;
  for (let position = 0; position < sizeBytes; ) {
    const box = boxAt(readAt, position, sizeBytes);
    if (box.end > sizeBytes) {
      // Without an index before it, the end of the file may hold one.
      if (box.type !== 'mdat' || !index || isFragmented) throw new UnreadableVideoError(CUT_OFF);
      boxes.neededSamples = samplesOfTracks(readAt, index);
    }
    if (box.type === 'moov' && index) throw new UnreadableVideoError(DAMAGED);
    if (box.type === 'moov') index = box;
    isFragmented ||= box.type === 'moof';
    boxes.hasManifest ||= holdsManifest(readAt, box);
    if (box.type !== 'mdat') boxes.seconds = Math.max(boxes.seconds, secondsSaid(readAt, box));
    position = box.end;
  }
  if (!index) throw new UnreadableVideoError(CUT_OFF);
  return boxes;
};

interface Box {
  type: string;
  start: number;
  contentAt: number;
  end: number;
}

const boxAt = (readAt: ReadAt, start: number, sizeBytes: number): Box => {
  const header = readAt(start, MAX_BOX_HEADER_BYTES);
  const isLong = header.byteLength >= MIN_BOX_HEADER_BYTES && header.readUInt32BE(0) === 1;
  const headerBytes = isLong ? MAX_BOX_HEADER_BYTES : MIN_BOX_HEADER_BYTES;
  if (header.byteLength < headerBytes) throw new UnreadableVideoError(CUT_OFF);
  const size = isLong ? Number(header.readBigUInt64BE(8)) : header.readUInt32BE(0) || sizeBytes - start;
  if (size < headerBytes) throw new UnreadableVideoError(DAMAGED);
  return { type: header.toString('latin1', 4, 8), start, contentAt: start + headerBytes, end: start + size };
};

/** Bytes searched at once. */
const WINDOW_BYTES = 256 * 1024;

/** Calls `read` with each inner box of a type, at any depth: `byteLength` bytes, from the box's type on. */
const forEachInside = (
  readAt: ReadAt,
  { start, end }: Box,
  { type, byteLength }: { type: string; byteLength: number },
  read: (bytes: Buffer) => void,
): void => {
  for (let position = start; position < end; position += WINDOW_BYTES) {
    const bytes = readAt(position, Math.min(WINDOW_BYTES + byteLength, end - position));
    for (let at = bytes.indexOf(type); at !== -1 && at < WINDOW_BYTES; at = bytes.indexOf(type, at + 1)) {
      const box = bytes.subarray(at, at + byteLength);
      if (box.byteLength === byteLength) read(box);
    }
  }
};

/** The bytes of a movie header from its type to its duration (ISO/IEC 14496-12, 8.2.2). */
const MOVIE_HEADER = { type: 'mvhd', byteLength: 36 };

/** The longest that any movie header in a box says. */
const secondsSaid = (readAt: ReadAt, box: Box): number => {
  let seconds = 0;
  forEachInside(readAt, box, MOVIE_HEADER, (header) => {
    seconds = Math.max(seconds, secondsOfHeader(header));
  });
  return seconds;
};

/** The bytes of a table of sample sizes up to its count (ISO/IEC 14496-12, 8.7.3). */
const SAMPLE_SIZES = { type: 'stsz', byteLength: 16 };

/** The samples of each track of an index. Those of one size, as of plain sound, FFmpeg reads many at once: they are left out. */
const samplesOfTracks = (readAt: ReadAt, index: Box): number[] => {
  const counts: number[] = [];
  forEachInside(readAt, index, SAMPLE_SIZES, (table) => {
    if (table.readUInt32BE(8) === 0) counts.push(table.readUInt32BE(12));
  });
  return counts;
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
  if (end < sizeBytes) throw new UnreadableVideoError(DAMAGED);
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
