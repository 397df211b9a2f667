import {
  addBlock,
  type Block,
  type MatroskaTrack,
  newTimeline,
  secondsOfTimeline,
} from './matroska-timeline.ts';
import {
  asBuffer,
  bytesAfter,
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
  trackNumber: 0xd7,
  trackType: 0x83,
  trackTimestampScale: 0x23314f,
  defaultDuration: 0x23e383,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  cluster: 0x1f43b675,
  clusterTimestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  blockDuration: 0x9b,
};
const VIDEO_TRACK = 1;
const SOUND_TRACK = 2;
/** Default nanoseconds per unit (RFC 9559, 5.1.2.9). */
const DEFAULT_UNIT_NANOSECONDS = 1_000_000;
/** An id of up to 4 bytes and a size of up to 8. */
const MAX_HEADER_BYTES = 12;
/** Most elements of a segment read, those in its clusters aside. */
const MAX_ELEMENTS = 1_000;
/** Most elements of its clusters: two minutes of 60 pictures and 100 sounds a second, which is four times the longest video. */
const MAX_CLUSTER_ELEMENTS = 20_000;
/** A block's track number of up to 8 bytes, time, flags, and number of frames (RFC 9559, 10). */
const MAX_BLOCK_HEADER_BYTES = 12;
/** A time or duration of 8 bytes. */
const MAX_NUMBER_BYTES = 8;

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

/** The element with this id. Throws `UnreadableVideoError` for one of several: players differ in which they take. */
const findElement = (container: Buffer, id: number): Buffer | undefined => {
  const [first, second] = elementsIn(container).filter((element) => element.id === id);
  if (second) throw new UnreadableVideoError('is damaged');
  return first?.content;
};

const readUnsigned = (content: Buffer): number =>
  content.subarray(0, 8).reduce((value, byte) => value * 256 + byte, 0);

const readFloat = (content: Buffer): number =>
  content.byteLength === 4 ? content.readFloatBE(0) : content.readDoubleBE(0);

/**
 * The document type of a Matroska file by its first bytes, `webm` or `matroska`; undefined when they are too
 * few, or the file is neither.
 */
export const docTypeOf = (head: Uint8Array): string | undefined => {
  const bytes = asBuffer(head);
  const header = headerOf(bytes);
  if (header?.id !== ID.ebml || header.headerBytes + header.size > bytes.byteLength) return undefined;
  const content = bytes.subarray(header.headerBytes, header.headerBytes + header.size);
  return findElement(content, ID.docType)?.toString('latin1').replace(/\0+$/, '');
};

/** State of reading a segment. */
interface Segment {
  info: Buffer | undefined;
  tracks: Buffer | undefined;
  clusters: number;
}

/**
 * Measures a Matroska or WebM file (RFC 9559) by the blocks of its clusters, and reads all their headers. Its
 * `Duration` is easily forged by patching eight bytes, so it counts only where it is longer. Info and tracks
 * precede the clusters. Reads no further once the video is longer than `enoughSeconds`. Throws
 * `UnreadableVideoError`.
 */
export const readMatroskaIndex = async (
  file: RandomAccessFile,
  enoughSeconds: number,
): Promise<VideoIndex> => {
  const ebml = headerOf(await bytesAfter(file, 0, MAX_HEADER_BYTES));
  const ebmlEnd = ebml ? ebml.headerBytes + ebml.size : 0;
  const segment = await headerAt(file, ebmlEnd);
  if (segment?.id !== ID.segment) throw new UnreadableVideoError('is damaged');
  const segmentStart = ebmlEnd + segment.headerBytes;
  const segmentEnd = Number.isFinite(segment.size) ? segmentStart + segment.size : 0;
  requireWithin(file, segmentEnd);
  const found: Segment = { info: undefined, tracks: undefined, clusters: 0 };
  const timeline = newTimeline();
  let [position, elements, inClusters] = [segmentStart, 0, 0];
  for (;;) {
    const header = await headerAt(file, position);
    if (!header) break;
    const start = position + header.headerBytes;
    position = start + header.size;
    if (header.id === ID.cluster || header.id === ID.blockGroup) position = start;
    if (header.id === ID.cluster) found.clusters++;
    if (found.clusters > 0 && found.tracks === undefined) throw new UnreadableVideoError('holds no video');
    if (isOfCluster(header.id)) {
      if (++inClusters > MAX_CLUSTER_ELEMENTS) throw new UnreadableVideoError('has too large an index');
      await readOfCluster(file, header, start, timeline);
      if (header.id !== ID.clusterTimestamp) continue;
      const beginSeconds = (timeline.clusterTime * unitNanoseconds(found.info)) / 1e9;
      if (beginSeconds > enoughSeconds) {
        return { seconds: beginSeconds, mediaSeconds: beginSeconds, frames: 0 };
      }
    } else {
      if (++elements > MAX_ELEMENTS) throw new UnreadableVideoError('is cut off');
      await readOfSegment(file, header.id, start, position, found);
    }
  }
  if (found.clusters === 0 || position < segmentEnd) throw new UnreadableVideoError('is cut off');
  const { info, tracks = Buffer.alloc(0) } = found;
  const picture = pictureOf(tracks);
  if (!picture) throw new UnreadableVideoError('holds no video');
  const { seconds, frames } = secondsOfTimeline(timeline, tracksOf(tracks), unitNanoseconds(info));
  const longest = Math.max(seconds, durationOf(info));
  return { seconds: longest, mediaSeconds: longest, frames, ...picture };
};

const isOfCluster = (id: number): boolean =>
  id === ID.cluster ||
  id === ID.clusterTimestamp ||
  id === ID.simpleBlock ||
  id === ID.blockGroup ||
  id === ID.block ||
  id === ID.blockDuration;

/** Reads an element of a cluster: its time, or the header of a block. */
const readOfCluster = async (
  file: RandomAccessFile,
  { id, size }: Header,
  start: number,
  timeline: ReturnType<typeof newTimeline>,
): Promise<void> => {
  if (id === ID.clusterTimestamp) {
    timeline.clusterTime = readUnsigned(await shortAt(file, start, size, MAX_NUMBER_BYTES));
  } else if (id === ID.blockDuration && timeline.lastBlock) {
    timeline.lastBlock.duration = readUnsigned(await shortAt(file, start, size, MAX_NUMBER_BYTES));
  } else if (id === ID.simpleBlock || id === ID.block) {
    addBlock(timeline, blockOf(await shortAt(file, start, size, MAX_BLOCK_HEADER_BYTES)));
  }
};

/** Keeps the info and the tracks. Throws `UnreadableVideoError` for others than the first, and for what begins another file. */
const readOfSegment = async (
  file: RandomAccessFile,
  id: number,
  start: number,
  end: number,
  found: Segment,
): Promise<void> => {
  if (id === ID.segment || id === ID.ebml) throw new UnreadableVideoError('is damaged');
  if (id !== ID.info && id !== ID.tracks) return;
  const name = id === ID.info ? 'info' : 'tracks';
  const content = await readIndex(file, start, end);
  const isAnother = found[name] !== undefined || found.clusters > 0;
  // A segment may repeat them, unchanged. Players differ in which of two they take.
  if (isAnother && !found[name]?.equals(content)) throw new UnreadableVideoError('is damaged');
  found[name] = content;
};

const shortAt = async (file: RandomAccessFile, start: number, size: number, most: number): Promise<Buffer> =>
  readIndex(file, start, start + Math.min(size, most));

/** The header at a position; undefined at the end of the file. Throws `UnreadableVideoError` where what precedes is cut off. */
const headerAt = async (file: RandomAccessFile, position: number): Promise<Header | undefined> =>
  headerOf(await bytesAfter(file, position, MAX_HEADER_BYTES));

/** A block by its first bytes. One frame unless it is laced. */
const blockOf = (bytes: Buffer): Block => {
  const numberBytes = lengthOf(bytes, 0);
  const isLaced = (bytes.readUInt8(numberBytes + 2) & 0x06) !== 0;
  return {
    track: bytes
      .subarray(1, numberBytes)
      .reduce((value, byte) => value * 256 + byte, bytes.readUInt8(0) & (0xff >> numberBytes)),
    time: bytes.readInt16BE(numberBytes),
    frames: isLaced ? bytes.readUInt8(numberBytes + 3) + 1 : 1,
  };
};

const unitNanoseconds = (info: Buffer | undefined): number => {
  const unit = info && findElement(info, ID.timestampScale);
  return unit ? readUnsigned(unit) : DEFAULT_UNIT_NANOSECONDS;
};

/** The `Duration` in seconds; 0 when there is none that is a length. */
const durationOf = (info: Buffer | undefined): number => {
  const duration = info && findElement(info, ID.duration);
  const seconds = duration ? (readFloat(duration) * unitNanoseconds(info)) / 1e9 : 0;
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
};

const tracksOf = (tracks: Buffer): MatroskaTrack[] =>
  elementsIn(tracks)
    .filter(({ id }) => id === ID.trackEntry)
    .map(({ content }) => {
      const [number, type] = [findElement(content, ID.trackNumber), findElement(content, ID.trackType)];
      const frame = findElement(content, ID.defaultDuration);
      const scale = findElement(content, ID.trackTimestampScale);
      const kind = type ? readUnsigned(type) : 0;
      return {
        number: number ? readUnsigned(number) : 0,
        isVideo: kind === VIDEO_TRACK,
        isTimed: kind === VIDEO_TRACK || kind === SOUND_TRACK,
        frameNanoseconds: frame && readUnsigned(frame),
        scale: scale ? readFloat(scale) : 1,
      };
    })
    .toArray();

/** Pixels of the first video track; undefined when there is none. */
const pictureOf = (tracks: Buffer): Pick<VideoIndex, 'width' | 'height'> | undefined => {
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
