/** A file read in parts, not held in memory. */
export interface RandomAccessFile {
  /** The bytes from `start` up to, not including, `end`; fewer at the end of the file. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** Size of the file; undefined while unknown. */
  sizeBytes(): number | undefined;
}

/** Not a video, or its duration cannot be determined. The message completes "the file …". */
export class UnreadableVideoError extends Error {
  override name = 'UnreadableVideoError';
}

/** Duration and size in a video's index. */
export interface VideoIndex {
  /** Duration of video and audio together. */
  seconds: number;
  /** The longest that a player may take the file for. */
  mediaSeconds: number;
  /** Number of pictures. */
  frames: number;
  /** Pixels, if the index has them. */
  width?: number;
  height?: number;
}

/**
 * Most bytes read of one index, to bound memory. The index of one minute takes about 100 KB.
 */
const MAX_INDEX_BYTES = 8 * 1024 * 1024;
/** Bytes fetched at once: enough for the index of a short clip and what precedes it. */
const WINDOW_BYTES = 256 * 1024;

/** The same file read in large windows, the last one cached, for readers that move forward in small steps. */
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
      // A wrong size in the file points past its end.
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
 * All bytes of a part of a file. Throws `UnreadableVideoError` when the file ends too early, or the part is
 * larger than an index may be.
 */
export const readIndex = async (file: RandomAccessFile, start: number, end: number): Promise<Buffer> => {
  if (end - start > MAX_INDEX_BYTES) throw new UnreadableVideoError('has too large an index');
  const bytes = await file.read(start, end);
  if (bytes.byteLength < end - start) throw new UnreadableVideoError('is cut off');
  return asBuffer(bytes);
};

/** A `Buffer` over the same bytes, without copying. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Throws `UnreadableVideoError` when a file is known to end before `end`. */
export const requireWithin = (file: RandomAccessFile, end: number): void => {
  if (end > (file.sizeBytes() ?? Number.POSITIVE_INFINITY)) throw new UnreadableVideoError('is cut off');
};

/**
 * The bytes after a position, up to `count`; fewer at the end of the file. Throws `UnreadableVideoError` where the file ends
 * before that position, whether or not its size is known.
 */
export const bytesAfter = async (
  file: RandomAccessFile,
  position: number,
  count: number,
): Promise<Buffer> => {
  const size = file.sizeBytes();
  if (position > (size ?? Number.POSITIVE_INFINITY)) throw new UnreadableVideoError('is cut off');
  if (position === size) return Buffer.alloc(0);
  if (position === 0 || size !== undefined) return asBuffer(await file.read(position, position + count));
  const bytes = asBuffer(await file.read(position - 1, position + count));
  if (bytes.byteLength === 0) throw new UnreadableVideoError('is cut off');
  return bytes.subarray(1);
};
