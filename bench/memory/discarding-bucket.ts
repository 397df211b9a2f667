import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An S3 endpoint on loopback that accepts single and multipart uploads but keeps only the start of each object. */
export interface DiscardingBucket {
  url: string;
  /** Bytes uploaded under a key; 0 for an unknown key. */
  sizeOf(key: string): number;
  close(): Promise<void>;
}

interface KeptObject {
  beginning: Buffer;
  sizeBytes: number;
}

/** More than the index at the start of a short film. */
const KEPT_BYTES = 1024 * 1024;

const ETAG = '"discarded"';

/** Starts a bucket on a free port. Only the first MiB of an object can be read back. */
export const startDiscardingBucket = async (): Promise<DiscardingBucket> => {
  const objects = new Map<string, KeptObject>();
  /** By upload id and part number. */
  const parts = new Map<string, Map<number, KeptObject>>();

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bucket');
    const uploadId = searchParams.get('uploadId');
    const xml = (text: string) =>
      response.writeHead(200, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);

    if (request.method === 'POST' && uploadId === null) {
      await drain(request);
      const id = String(parts.size + 1);
      parts.set(id, new Map());
      xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    } else if (request.method === 'POST') {
      await drain(request);
      objects.set(pathname, joined(parts.get(uploadId ?? '') ?? new Map()));
      xml(`<CompleteMultipartUploadResult><ETag>${ETAG}</ETag></CompleteMultipartUploadResult>`);
    } else if (request.method === 'PUT') {
      const object = await drain(request);
      if (uploadId === null) objects.set(pathname, object);
      else parts.get(uploadId)?.set(Number(searchParams.get('partNumber')), object);
      response.writeHead(200, { etag: ETAG }).end();
    } else {
      const { beginning, sizeBytes } = objects.get(pathname) ?? { beginning: Buffer.alloc(0), sizeBytes: 0 };
      const [, from = '0', to = '0'] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      const bytes = beginning.subarray(Number(from), Number(to) + 1);
      const range = `bytes ${from}-${Number(from) + bytes.length - 1}/${sizeBytes}`;
      response.writeHead(206, { 'content-range': range, 'content-length': bytes.length }).end(bytes);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    sizeOf: (key) => objects.get(`/${key}`)?.sizeBytes ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Reads a whole body and keeps its start. */
const drain = async (request: IncomingMessage): Promise<KeptObject> => {
  const beginning: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (sizeBytes < KEPT_BYTES) beginning.push(chunk);
    sizeBytes += chunk.byteLength;
  }
  return { beginning: Buffer.concat(beginning).subarray(0, KEPT_BYTES), sizeBytes };
};

const joined = (parts: Map<number, KeptObject>): KeptObject => ({
  beginning: parts.get(1)?.beginning ?? Buffer.alloc(0),
  sizeBytes: [...parts.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});
