const pngChunk = (type: string, content: readonly number[]): Buffer =>
  Buffer.concat([
    Buffer.from([0, 0, 0, content.length]),
    Buffer.from(type),
    Buffer.from(content),
    Buffer.from([0, 0, 0, 0]),
  ]);

/** The chunks of a PNG of 64 by 64 pixels, its data empty: the service reads the size and looks for the end. */
export const aPng: Uint8Array = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  pngChunk('IHDR', [0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0]),
  pngChunk('IDAT', []),
  pngChunk('IEND', []),
]);

let mp4: Uint8Array = new Uint8Array();

/** How long the MP4 file is. */
export const SECONDS_OF_MP4 = 1;

/** A short MP4 file; empty until one was given. */
export const anMp4 = (): Uint8Array => mp4;

/** Gives the MP4 file that every provider delivers. */
export const deliverMp4 = (bytes: Uint8Array): void => {
  mp4 = bytes;
};

/** More than fits into one part of an upload. */
const PADDING_BYTES = 5.5 * 1024 * 1024;
const padding = Buffer.alloc(PADDING_BYTES);
padding.writeUInt32BE(PADDING_BYTES, 0);
padding.write('free', 4);

const MARK = 'free/';

/** A file that says where it was made: in MP4 by a box that nobody reads, in PNG by bytes after its end. */
export const marked = (bytes: Uint8Array, pathname: string): Uint8Array => {
  const box = Buffer.from(`\0\0\0\0free${pathname}\n`);
  box.writeUInt32BE(box.length, 0);
  return Buffer.concat([bytes, box]);
};

/** Where a file was made; empty for a file without that. */
export const markOf = (bytes: Uint8Array): string => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const from = buffer.indexOf(MARK) + MARK.length - 1;
  return from < MARK.length ? '' : buffer.toString('latin1', from, buffer.indexOf('\n', from));
};

/** A file made large: in MP4 by a box that nobody reads, in PNG by bytes after its end. */
export const padded = (bytes: Uint8Array): Uint8Array => Buffer.concat([bytes, padding]);
