import { Transform, type TransformCallback } from 'node:stream';

const LINE_END = Buffer.from('\r\n');

/**
 * Removes the `aws-chunked` framing of an upload (`size;chunk-signature=…\r\n` bytes `\r\n` … `0` trailers). The SDK uses it to send a
 * checksum after a stream. Chunk signatures and trailing checksums are not checked. Fails when the body ends early.
 */
export const decodeAwsChunked = (): Transform => {
  let pending: Buffer = Buffer.alloc(0);
  let leftInChunk = 0;
  let state: 'size' | 'bytes' | 'end-of-chunk' | 'trailers' = 'size';

  /** Consumes one piece of the pending bytes; false when it needs more bytes. */
  const step = (push: (bytes: Buffer) => void): boolean => {
    if (state === 'bytes') {
      const bytes = pending.subarray(0, leftInChunk);
      if (bytes.length === 0) return false;
      push(bytes);
      pending = pending.subarray(bytes.length);
      leftInChunk -= bytes.length;
      if (leftInChunk === 0) state = 'end-of-chunk';
      return true;
    }
    if (state === 'trailers') {
      pending = Buffer.alloc(0);
      return false;
    }
    const lineEnd = pending.indexOf(LINE_END);
    if (lineEnd < 0) return false;
    const line = pending.subarray(0, lineEnd).toString('latin1');
    pending = pending.subarray(lineEnd + LINE_END.length);
    if (state === 'end-of-chunk') {
      state = 'size';
      return true;
    }
    leftInChunk = Number.parseInt(line, 16);
    if (Number.isNaN(leftInChunk)) throw new Error('malformed aws-chunked body');
    state = leftInChunk === 0 ? 'trailers' : 'bytes';
    return true;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      try {
        while (step((bytes) => this.push(bytes)));
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
    flush(done: TransformCallback) {
      done(state === 'trailers' ? null : new Error('aws-chunked body ended early'));
    },
  });
};
