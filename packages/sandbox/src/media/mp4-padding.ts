/** Bytes to append to a file, generated chunk by chunk. */
export type Padding = { sizeBytes: number; chunks(): Iterable<Buffer> };

/** An MP4 box starts with its size and its type, four bytes each. */
const BOX_HEADER_BYTES = 8;

const CHUNK = Buffer.alloc(64 * 1024);

/**
 * A `free` box, which players skip, that extends an MP4 of `fileBytes` to exactly `wantedBytes`. Empty when fewer than
 * 8 bytes are missing, as no box is that small. The size must fit 32 bits.
 */
export const paddingOf = (fileBytes: number, wantedBytes: number): Padding => {
  const sizeBytes = wantedBytes - fileBytes;
  if (sizeBytes < BOX_HEADER_BYTES) return { sizeBytes: 0, chunks: () => [] };
  return {
    sizeBytes,
    *chunks() {
      const header = Buffer.from('....free', 'latin1');
      header.writeUInt32BE(sizeBytes);
      yield header;
      for (let left = sizeBytes - header.length; left > 0; left -= CHUNK.length) {
        yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
      }
    },
  };
};
