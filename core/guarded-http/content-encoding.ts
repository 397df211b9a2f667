import { Duplex, pipeline, Readable } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

/** The compression method in the first byte of zlib's format (RFC 1950, 2.2). */
const ZLIB_METHOD = 8;

/** Inflates `deflate`, which means zlib's format; some servers leave its header out. */
const inflateEither = (): Duplex =>
  Duplex.from(async function* (encoded: AsyncIterable<Uint8Array>) {
    const chunks = encoded[Symbol.asyncIterator]();
    const { value: first, done } = await chunks.next();
    if (done) return;
    const whole = async function* () {
      yield first;
      yield* { [Symbol.asyncIterator]: () => chunks };
    };
    const hasHeader = ((first[0] ?? 0) & 0x0f) === ZLIB_METHOD;
    const inflate = hasHeader ? createInflate() : createInflateRaw();
    yield* pipeline(Readable.from(whole()), inflate, () => undefined);
  });

/** The encodings of HTTP (RFC 9110, 8.4.1; RFC 7932; RFC 8878). S3 keeps `aws-chunked` in an object's description, whose bytes are plain. */
const DECODERS = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', inflateEither],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);
/** Names of no encoding, also those that are in use by mistake. */
const PLAIN = new Set(['', 'identity', 'aws-chunked', 'none', 'binary', 'utf-8']);

/** The most encodings of one body. Nobody sends two on purpose. */
const MAX_ENCODINGS = 3;

/** A body has an encoding that is not supported. */
class UnknownEncodingError extends Error {
  override name = 'UnknownEncodingError';
}

/**
 * The bytes of a body without its `Content-Encoding`, which some servers apply unasked. Limits on its size are the reader's. Throws
 * `UnknownEncodingError`, having destroyed the body. Reading fails where the encoded bytes end early.
 */
export const decoded = (body: Readable, contentEncoding = ''): Readable => {
  const names = contentEncoding.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => !PLAIN.has(name));
  const decoders = applied.map((name) => DECODERS.get(name)).filter((create) => create !== undefined);
  if (decoders.length < applied.length || applied.length > MAX_ENCODINGS) {
    body.destroy();
    throw new UnknownEncodingError('The encoding of the body is unknown.');
  }
  // The last was applied last. The reader of the whole gets its error.
  return decoders.reduceRight<Readable>(
    (encoded, create) => pipeline(encoded, create(), () => undefined),
    body,
  );
};
