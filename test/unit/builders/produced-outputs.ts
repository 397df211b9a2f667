import type { ServerResponse } from 'node:http';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { providerAttemptKey, requestKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { anImage } from '../../../packages/media/test/images.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';
import { MemoryTable } from '../fakes/memory-table.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from './entities.ts';

export type Answer = (response: ServerResponse, requestNumber: number) => void;

/** A request whose outputs are on a file server, with the table and bucket they are stored in. */
export class ProducedOutputs {
  readonly memory = new MemoryTable(table);
  readonly bucket = new MemoryBucket();
  readonly server = new LoopbackServer();
  /** An image of 64 by 48 pixels. */
  png: Buffer = Buffer.alloc(0);

  async start(): Promise<this> {
    await this.server.start();
    this.png = await anImage(64, 48);
    return this;
  }

  /** Clears everything for the next test. */
  reset(): void {
    this.memory.reset();
    this.bucket.reset();
    this.server.reset();
  }

  /** Puts the request into the table, with one call for each of these URLs or server paths, where its output is. */
  given(urls: string[], request: Partial<ImageRequest> = {}): void {
    this.memory.put(
      requestKey(REQUEST_ID),
      anImageRequest({ status: 'processing', images: urls.length, ...request }),
    );
    urls.forEach((url, call) => {
      const outputs = [{ url: url.startsWith('/') ? this.server.url + url : url }];
      const attempt = anAttempt({ call, outcome: { kind: 'done', outputs } });
      this.memory.put(providerAttemptKey(REQUEST_ID, call, 0), attempt);
    });
  }

  /** Serves these paths; the others are 404. Each route gets how often its path has been requested, from 1. */
  serve(routes: Record<string, Answer>): void {
    this.server.respond = ({ path }, response) => {
      const route = routes[path];
      if (route) route(response, this.requestedPaths().filter((other) => other === path).length);
      else response.writeHead(404).end();
    };
  }

  /** The path of every request to the server, in order. */
  requestedPaths(): string[] {
    return this.server.requests.map(({ path }) => path);
  }

  /** The outputs as recorded in the request. */
  recorded(): unknown {
    return this.memory.get(requestKey(REQUEST_ID))?.outputs;
  }
}

/** The object key of one of the request's outputs. */
export const keyOf = (name: string): string => `outputs/${REQUEST_ID}/${name}`;

/** Answers with these bytes. */
export const file =
  (bytes: Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(bytes);

/** Answers with a status instead of a file. */
export const status =
  (code: number): Answer =>
  (response) =>
    response.writeHead(code).end('no');

/** Announces so many bytes, and breaks off once these are sent. */
export const breaking =
  (announced: number, sent: Buffer): Answer =>
  (response) => {
    response.writeHead(200, { 'content-length': String(announced) });
    response.write(sent, () => response.socket?.destroy());
  };

/** A JPEG with `segments` segments of 64 KiB of metadata before the one with its size. */
export const withMetadata = (jpeg: Buffer, segments: number): Buffer => {
  const segment = Buffer.alloc(65_537);
  segment.writeUInt16BE(0xffe2, 0);
  segment.writeUInt16BE(65_535, 2);
  return Buffer.concat([jpeg.subarray(0, 2), ...Array<Buffer>(segments).fill(segment), jpeg.subarray(2)]);
};
