import type { ImageExtension } from './file-types.ts';

/** The byte before the name of each JPEG marker. */
const MARKER = 0xff;
/** A stride up to the next `MARKER`. */
const SEEK = -1;

/**
 * A reader of an image's bytes. Yields how many bytes to pass over, or `SEEK`, and gets the last of them. Returns whether the
 * image is complete.
 */
type Walk = Generator<number, boolean, number>;

/** What a reader found on its way. */
interface Found {
  /** Whether the image carries a C2PA manifest. */
  c2pa: boolean;
}

/** The end of an image: `IEND` of a PNG, `EOI` of a JPEG, the length that a WebP says. Looked for in the bytes as they arrive. */
export class ImageEnd {
  private readonly found: Found = { c2pa: false };
  private readonly walk: Walk;
  private stride: number;
  private whole = false;
  private isOver = false;

  constructor(extension: ImageExtension) {
    this.walk = WALKS[extension](this.found);
    this.stride = this.walk.next().value as number;
  }

  /** Takes the next bytes. */
  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength && !this.isOver; ) {
      if (this.stride === SEEK) {
        const marker = chunk.indexOf(MARKER, at);
        if (marker === -1) return;
        at = marker + 1;
      } else {
        const taken = Math.min(this.stride, chunk.byteLength - at);
        at += taken;
        this.stride -= taken;
        if (this.stride > 0) return;
      }
      const { value, done } = this.walk.next(chunk[at - 1] as number);
      if (done) [this.isOver, this.whole] = [true, value as boolean];
      else this.stride = value as number;
    }
  }

  /** Whether all of the image was taken. Bytes after its end, which some writers add, do not matter. */
  isWhole(): boolean {
    return this.whole;
  }

  /** Whether a C2PA manifest was among the bytes taken. Nothing verifies the manifest. */
  hasManifest(): boolean {
    return this.found.c2pa;
  }
}

/** The next byte: a stride of one. */
const byte = function* (): Generator<number, number, number> {
  return yield 1;
};

/** Passes over bytes. */
const pass = function* (bytes: number): Generator<number, void, number> {
  if (bytes > 0) yield bytes;
};

const bytes = function* (count: number): Generator<number, Buffer, number> {
  const read = Buffer.alloc(count);
  for (let index = 0; index < count; index++) read[index] = yield* byte();
  return read;
};

const PNG_SIGNATURE_BYTES = 8;
const PNG_CHECKSUM_BYTES = 4;
/** PNG, 5.3: a length has 31 bits. */
const MAX_PNG_CHUNK = 2 ** 31 - 1;

/** The chunk of a manifest (C2PA 2.2, A.3.2: embedding manifests into PNG). */
const PNG_MANIFEST = 'caBX';

/** Passes over the chunks of a PNG up to `IEND`. */
const walkPng = function* (found: Found): Walk {
  yield* pass(PNG_SIGNATURE_BYTES);
  for (let hasData = false; ; ) {
    const header = yield* bytes(8);
    const length = header.readUInt32BE(0);
    const type = header.toString('latin1', 4);
    if (length > MAX_PNG_CHUNK) return false;
    hasData ||= type === 'IDAT';
    found.c2pa ||= type === PNG_MANIFEST;
    yield* pass(length + PNG_CHECKSUM_BYTES);
    if (type === 'IEND') return hasData;
  }
};

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
/** Markers without a segment: `TEM`, `RST0` to `RST7`, and an image that begins again. */
const isAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= SOI);

/** The segment of a manifest, and how far to its type: `JP`, two numbers, and the heads of a JUMBF box and its description (C2PA 2.2, A.3.1). */
const APP11 = 0xeb;
const MANIFEST_HEAD_BYTES = 40;
/** The type of a C2PA manifest store (C2PA 2.2, 11.1.4.2). */
const MANIFEST_TYPE = '6332706100110010800000aa00389b71';
const isManifest = (head: Buffer): boolean =>
  head.toString('latin1', 0, 2) === 'JP' && head.toString('hex', 24) === MANIFEST_TYPE;

/** Passes over the segments and scans of a JPEG up to `EOI` (ITU T.81, B.1.1). What stands between segments is passed over, as decoders do. */
const walkJpeg = function* (found: Found): Walk {
  for (let hasData = false; ; ) {
    let marker = yield SEEK;
    while (marker === MARKER) marker = yield* byte();
    // In a scan 0 stands for data.
    if (marker === 0 || isAlone(marker)) continue;
    if (marker === EOI) {
      if (hasData) return true;
      continue;
    }
    let length = (yield* bytes(2)).readUInt16BE(0) - 2;
    if (marker === APP11 && length >= MANIFEST_HEAD_BYTES) {
      found.c2pa ||= isManifest(yield* bytes(MANIFEST_HEAD_BYTES));
      length -= MANIFEST_HEAD_BYTES;
    }
    yield* pass(length);
    hasData ||= marker === SOS;
  }
};

/** Chunks of WebP that hold a picture, or one of an animation. */
const WEBP_DATA = new Set(['VP8 ', 'VP8L', 'ANMF']);
const RIFF_HEADER_BYTES = 8;

/** The chunk of a manifest (C2PA 2.2, A.3.5: embedding manifests into RIFF). */
const WEBP_MANIFEST = 'C2PA';

/** Passes over the chunks of a WebP up to the length that its file header says. */
const walkWebp = function* (found: Found): Walk {
  const header = yield* bytes(12);
  let rest = header.readUInt32LE(4) + RIFF_HEADER_BYTES - header.byteLength;
  for (let hasData = false; ; ) {
    if (rest < 8) return hasData;
    const chunk = yield* bytes(8);
    const type = chunk.toString('latin1', 0, 4);
    hasData ||= WEBP_DATA.has(type);
    found.c2pa ||= type === WEBP_MANIFEST;
    const length = chunk.readUInt32LE(4);
    const padding = length % 2;
    rest -= 8 + length + padding;
    // Some writers leave the last padding out.
    if (rest + padding < 0) return false;
    yield* pass(length);
    if (rest >= 8) yield* pass(padding);
  }
};

const WALKS = { png: walkPng, jpg: walkJpeg, webp: walkWebp } satisfies Record<
  ImageExtension,
  (found: Found) => Walk
>;
