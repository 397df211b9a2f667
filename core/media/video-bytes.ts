/** Bytes of a file that is not held in memory. */
export interface RandomAccessFile {
  /** The bytes from `start` up to `end`, fewer where the file ends before. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** Size of the file; undefined until its holder has told it. */
  sizeBytes(): number | undefined;
}

/** Bytes that are no video of which a length can be told. The message completes "the file …". */
export class UnreadableVideoError extends Error {
  override name = 'UnreadableVideoError';
}

/** What a video's own index says of it. */
export interface VideoIndex {
  /** Length on the timeline, video and audio, in seconds. */
  seconds: number;
  /** Pixels of the picture, when the index tells them. */
  width?: number;
  height?: number;
}

/**
 * Most bytes that are read of one index. A minute's takes some 100 KB; what is longer than this is no index we
 * would want in memory.
 */
const MAX_INDEX_BYTES = 8 * 1024 * 1024;
/** How much is fetched at once: the index of a short clip, in one read with whatever stands before it. */
const WINDOW_BYTES = 256 * 1024;

/** The same file, read in large pieces of which the last is kept: for readers that go forward in small steps. */
export const inWindows = (file: RandomAccessFile): RandomAccessFile => {
  let held: Uint8Array = new Uint8Array();
  let heldFrom = 0;
  let heldIsLast = false;
  const holds = (start: number, end: number): boolean => {
    const heldEnd = heldFrom + held.byteLength;
    return start >= heldFrom && (end <= heldEnd || heldIsLast);
  };
  return {
    sizeBytes: () => file.sizeBytes(),
    read: async (start, end) => {
      // Where a size in the file leads nowhere.
      if (start >= (file.sizeBytes() ?? Number.MAX_SAFE_INTEGER)) return new Uint8Array();
      if (!holds(start, end)) {
        const wanted = Math.max(end - start, WINDOW_BYTES);
        held = await file.read(start, start + wanted);
        heldFrom = start;
        heldIsLast = held.byteLength < wanted;
      }
      return held.subarray(start - heldFrom, end - heldFrom);
    },
  };
};

/**
 * All bytes of a part of a file. Throws `UnreadableVideoError` when the file ends before, or when the part is
 * larger than an index may be.
 */
export const readIndex = async (file: RandomAccessFile, start: number, end: number): Promise<Buffer> => {
  if (end - start > MAX_INDEX_BYTES) throw new UnreadableVideoError('has too large an index');
  const bytes = await file.read(start, end);
  if (bytes.byteLength < end - start) throw new UnreadableVideoError('is cut off');
  return asBuffer(bytes);
};

/** The same bytes with methods to read numbers, not a copy. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Throws `UnreadableVideoError` when a file is known to end before a part of it does. */
export const requireWithin = (file: RandomAccessFile, end: number): void => {
  if (end > (file.sizeBytes() ?? Number.POSITIVE_INFINITY)) throw new UnreadableVideoError('is cut off');
};
