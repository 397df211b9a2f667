import type { Dispatcher } from 'undici';
import type { RandomAccessFile } from '../media/video-bytes.ts';
import { openGuardedSession } from './guarded-http.ts';

/** The server did not return the requested bytes, or the file needs more reads than we allow. */
export class UnreadableFileError extends Error {
  override name = 'UnreadableFileError';
}

/** Most bytes and requests per file. Requests: three for each second of the longest fragmented clip. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_REQUESTS = 48;

/** A file fetched in parts over a kept connection. */
export interface RangedHttpFile extends RandomAccessFile {
  /** Drops the connection, including a response in progress. */
  close(): Promise<void>;
}

/**
 * A file at a URL, fetched by HTTP range requests (RFC 9110, 14). When the server ignores ranges, the file is
 * read from its start up to the requested part. Reading throws `UnreadableFileError` for other responses and
 * beyond 16 MiB or 48 requests, and the errors of `guardedRequest`.
 */
export const rangedHttpFile = (url: string, signal: AbortSignal): RangedHttpFile => {
  const session = openGuardedSession();
  let sizeBytes: number | undefined;
  let fromStart: SequentialBody | undefined;
  let requests = 0;
  let received = 0;

  const readRange = async (start: number, end: number): Promise<Uint8Array> => {
    if (++requests > MAX_REQUESTS) throw new UnreadableFileError('takes too many requests to read');
    const range = `bytes=${start}-${end - 1}`;
    const { statusCode, headers, body } = await session.request(url, {
      headers: { range, 'accept-encoding': 'identity' },
      signal,
    });
    if (statusCode === 200) {
      sizeBytes = contentLength(headers);
      fromStart = new SequentialBody(body);
      return fromStart.read(start, end);
    }
    if (statusCode === 416) {
      await body.dump();
      return new Uint8Array();
    }
    const given = statusCode === 206 ? contentRange(headers) : undefined;
    if (given?.start !== start) {
      await body.dump();
      throw new UnreadableFileError('could not be fetched');
    }
    sizeBytes = given.sizeBytes;
    const bytes = await new SequentialBody(body).read(0, end - start);
    received += bytes.byteLength;
    return bytes;
  };

  return {
    sizeBytes: () => fromStart?.sizeBytes ?? sizeBytes,
    read: async (start, end) => {
      if (fromStart) return fromStart.read(start, end);
      if (received + end - start > MAX_BYTES) throw new UnreadableFileError('has too large an index');
      return readRange(start, end);
    },
    close: () => session.close(),
  };
};

const contentLength = (headers: Dispatcher.ResponseData['headers']): number | undefined => {
  const length = headers['content-length'];
  return typeof length === 'string' ? Number(length) : undefined;
};

/** The start of the bytes in a 206, and the size of the whole file if the server sends it. */
const contentRange = (
  headers: Dispatcher.ResponseData['headers'],
): { start: number; sizeBytes: number | undefined } | undefined => {
  const [, start, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(String(headers['content-range'])) ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), sizeBytes: size === '*' ? undefined : Number(size) };
};

/** A response body read on demand; the bytes read are kept. */
class SequentialBody {
  private readonly chunks: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);
  /** Known once the body has ended. */
  sizeBytes: number | undefined;

  constructor(body: Dispatcher.ResponseData['body']) {
    this.chunks = body[Symbol.asyncIterator]();
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const fresh = [this.held];
    let heldBytes = this.held.byteLength;
    while (heldBytes < Math.min(end, MAX_BYTES)) {
      const { value, done } = await this.chunks.next();
      if (done) {
        this.sizeBytes = heldBytes;
        break;
      }
      fresh.push(value);
      heldBytes += value.byteLength;
    }
    this.held = Buffer.concat(fresh);
    if (heldBytes >= MAX_BYTES && end > heldBytes)
      throw new UnreadableFileError('must be on a server that answers range requests');
    return this.held.subarray(start, end);
  }
}
