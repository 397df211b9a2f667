/** Bytes that follow a file's own while it is sent; they are never held in memory. */
export type Padding = { sizeBytes: number; chunks(): Iterable<Buffer> };

/** A box begins with its size and its type, four bytes each. */
const BOX_HEADER_BYTES = 8;

const CHUNK = Buffer.alloc(64 * 1024);

/**
 * A `free` box that makes an MP4 of `fileBytes` exactly `wantedBytes` long, for readers to skip. No padding where
 * the file has about that length already. The size has to fit 32 bits.
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
