import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

/** The encodings of HTTP (RFC 9110, 8.4.1; RFC 7932; RFC 8878). S3 keeps `aws-chunked` in an object's description, whose bytes are plain. */
const DECODERS: Record<string, (() => Transform) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};
const PLAIN = new Set(['', 'identity', 'aws-chunked']);

/** The most encodings of one body. Nobody sends two on purpose. */
const MAX_ENCODINGS = 3;

/** A body has an encoding that is not supported. */
export class UnknownEncodingError extends Error {
  override name = 'UnknownEncodingError';
}

/**
 * The bytes of a body without its `Content-Encoding`, which some servers apply unasked. Limits on its size are the reader's. Throws
 * `UnknownEncodingError`, having destroyed the body. Reading fails where the encoded bytes end early.
 */
export const decoded = (body: Readable, contentEncoding = ''): Readable => {
  const names = contentEncoding.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => !PLAIN.has(name));
  const decoders = applied.map((name) => DECODERS[name]).filter((create) => create !== undefined);
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
