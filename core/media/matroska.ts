import {
  asBuffer,
  type RandomAccessFile,
  readIndex,
  requireWithin,
  UnreadableVideoError,
  type VideoIndex,
} from './video-bytes.ts';

/** Element ids, including their length marker (RFC 8794, 5; RFC 9559, 5.1). */
const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackType: 0x83,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  cluster: 0x1f43b675,
};
const VIDEO_TRACK = 1;
/** Default nanoseconds per unit (RFC 9559, 5.1.2.9). */
const DEFAULT_UNIT_NANOSECONDS = 1_000_000;
/** An id of up to 4 bytes and a size of up to 8. */
const MAX_HEADER_BYTES = 12;
/** Most elements of a segment read. An index after the first cluster is not used. */
const MAX_ELEMENTS = 1_000;

interface Header {
  id: number;
  headerBytes: number;
  /** Bytes after the header; infinite when unknown, as in live recordings. */
  size: number;
}

/** The header of the element at the start of the bytes; undefined when truncated. */
const headerOf = (bytes: Buffer): Header | undefined => {
  const idBytes = lengthOf(bytes, 0);
  const sizeBytes = lengthOf(bytes, idBytes);
  if (idBytes > 4 || sizeBytes > 8 || bytes.byteLength < idBytes + sizeBytes) return undefined;
  let size = bytes.readUInt8(idBytes) & (0xff >> sizeBytes);
  let isOpen = size === 0xff >> sizeBytes;
  for (let place = idBytes + 1; place < idBytes + sizeBytes; place++) {
    size = size * 256 + bytes.readUInt8(place);
    isOpen &&= bytes.readUInt8(place) === 0xff;
  }
  return {
    id: bytes.readUIntBE(0, idBytes),
    headerBytes: idBytes + sizeBytes,
    size: isOpen ? Number.POSITIVE_INFINITY : size,
  };
};

/**
 * Length of a number in bytes, by the leading zeros of its first byte; 9 for a byte that starts no number.
 */
const lengthOf = (bytes: Buffer, place: number): number => Math.clz32(bytes[place] ?? 0) - 23;

/** The elements in an element. Throws `UnreadableVideoError` for one larger than its container. */
const elementsIn = function* (container: Buffer): Generator<{ id: number; content: Buffer }> {
  for (let start = 0; start < container.byteLength; ) {
    const header = headerOf(container.subarray(start));
    const contentStart = start + (header?.headerBytes ?? 0);
    if (!header || contentStart + header.size > container.byteLength)
      throw new UnreadableVideoError('is damaged');
    yield { id: header.id, content: container.subarray(contentStart, contentStart + header.size) };
    start = contentStart + header.size;
  }
};

const findElement = (container: Buffer, id: number): Buffer | undefined =>
  elementsIn(container).find((element) => element.id === id)?.content;

const readUnsigned = (content: Buffer): number =>
  content.subarray(0, 8).reduce((value, byte) => value * 256 + byte, 0);

const readFloat = (content: Buffer): number =>
  content.byteLength === 4 ? content.readFloatBE(0) : content.readDoubleBE(0);

/**
 * The document type of a Matroska file by its first bytes, `webm` or `matroska`; undefined when they are too
 * few, or not those of such a file.
 */
export const docTypeOf = (head: Uint8Array): string | undefined => {
  const bytes = asBuffer(head);
  const header = headerOf(bytes);
  if (header?.id !== ID.ebml || header.headerBytes + header.size > bytes.byteLength) return undefined;
  const content = bytes.subarray(header.headerBytes, header.headerBytes + header.size);
  return findElement(content, ID.docType)?.toString('latin1').replace(/\0+$/, '');
};

/**
 * Reads the index of a Matroska or WebM file (RFC 9559), which precedes its media data. Throws
 * `UnreadableVideoError`, also for a file without a `Duration`, such as a live recording.
 */
export const readMatroskaIndex = async (file: RandomAccessFile): Promise<VideoIndex> => {
  const ebml = await headerAt(file, 0);
  const ebmlEnd = ebml ? ebml.headerBytes + ebml.size : 0;
  const segment = await headerAt(file, ebmlEnd);
  if (segment?.id !== ID.segment) throw new UnreadableVideoError('is damaged');
  const segmentStart = ebmlEnd + segment.headerBytes;
  if (Number.isFinite(segment.size)) requireWithin(file, segmentStart + segment.size);
  let seconds: number | undefined;
  let picture: Omit<VideoIndex, 'seconds'> | undefined;
  let position = segmentStart;
  for (let count = 0; count < MAX_ELEMENTS; count++) {
    const header = await headerAt(file, position);
    if (!header) break;
    if (header.id === ID.cluster) {
      if (!picture) throw new UnreadableVideoError('holds no video');
      if (seconds === undefined) throw new UnreadableVideoError('has no duration');
      return { seconds, ...picture };
    }
    const start = position + header.headerBytes;
    position = start + header.size;
    if (header.id === ID.info) seconds = secondsOf(await readIndex(file, start, position));
    if (header.id === ID.tracks) picture = pictureOf(await readIndex(file, start, position));
  }
  throw new UnreadableVideoError('is cut off');
};

const headerAt = async (file: RandomAccessFile, position: number): Promise<Header | undefined> =>
  headerOf(asBuffer(await file.read(position, position + MAX_HEADER_BYTES)));

const secondsOf = (info: Buffer): number | undefined => {
  const duration = findElement(info, ID.duration);
  const unit = findElement(info, ID.timestampScale);
  const nanoseconds = unit ? readUnsigned(unit) : DEFAULT_UNIT_NANOSECONDS;
  return duration && (readFloat(duration) * nanoseconds) / 1e9;
};

/** Pixels of the first video track; undefined when there is none. */
const pictureOf = (tracks: Buffer): Omit<VideoIndex, 'seconds'> | undefined => {
  for (const { id, content } of elementsIn(tracks)) {
    if (id !== ID.trackEntry) continue;
    const type = findElement(content, ID.trackType);
    if (!type || readUnsigned(type) !== VIDEO_TRACK) continue;
    const video = findElement(content, ID.video);
    const width = video && findElement(video, ID.pixelWidth);
    const height = video && findElement(video, ID.pixelHeight);
    return width && height ? { width: readUnsigned(width), height: readUnsigned(height) } : {};
  }
  return undefined;
};
