import type { ServerResponse } from 'node:http';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { providerAttemptKey, requestKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { LoopbackServer } from '../fakes/loopback-server.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';
import { MemoryTable } from '../fakes/memory-table.ts';
import { ACCOUNT_ID, anAttempt, anImageRequest, REQUEST_ID } from './entities.ts';
import { anImage } from './images.ts';

type Answer = (response: ServerResponse, time: number) => void;

/** A request whose outputs lie on a file server, and the table and bucket they go to. */
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

  /** Forgets everything, for the next test. */
  reset(): void {
    this.memory.reset();
    this.bucket.reset();
    this.server.reset();
  }

  /** The request, of which the provider produced a file at each of these URLs or paths of the server. */
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

  /** Answers each path as told, knowing how often it was asked for; the others are 404. */
  serve(routes: Record<string, Answer>): void {
    this.server.respond = ({ path }, response) => {
      const route = routes[path];
      if (route) route(response, this.asked().filter((other) => other === path).length);
      else response.writeHead(404).end();
    };
  }

  /** The paths that were asked for, each time. */
  asked(): string[] {
    return this.server.requests.map(({ path }) => path);
  }

  /** What was recorded of the outputs. */
  recorded(): unknown {
    return this.memory.get(requestKey(REQUEST_ID))?.outputs;
  }
}

/** The object key of one of the request's outputs. */
export const keyOf = (name: string): string => `outputs/${ACCOUNT_ID}/${REQUEST_ID}/${name}`;

/** Answers with these bytes. */
export const file =
  (bytes: Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(bytes);

/** Answers with a status and no file. */
export const status =
  (code: number): Answer =>
  (response) =>
    response.writeHead(code).end('no');

/** A JPEG with so many segments of 64 KiB of metadata before what tells its size. */
export const withMetadata = (jpeg: Buffer, segments: number): Buffer => {
  const segment = Buffer.alloc(65_537);
  segment.writeUInt16BE(0xffe2, 0);
  segment.writeUInt16BE(65_535, 2);
  return Buffer.concat([jpeg.subarray(0, 2), ...Array<Buffer>(segments).fill(segment), jpeg.subarray(2)]);
};
