import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { ErrorCode } from '../../../core/errors.ts';
import { apiKeyKey, requestKey } from '../../../core/table/keys.ts';
import { ApiRequest } from '../../../functions/http/api-request.ts';
import { EDIT_OPENAI_IMAGE } from '../../../functions/openai/edit-image.ts';
import { type ImageEndpoint, makeImages } from '../../../functions/openai/make-images.ts';
import { readImageBody } from '../../../functions/openai/read-calls.ts';
import { anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { type ApiEvent, RouteWorld } from '../builders/route-world.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

interface Ending {
  /** When the request succeeds, in seconds from the call; never by default. */
  endsAfterSeconds?: number;
  sizeBytes?: number;
  /** The places of outputs that could not be stored. */
  notStored?: number[];
  expiresAt?: string;
}

interface CallOptions extends Ending {
  /** The caller; by default a new one. */
  headers?: Record<string, string>;
  /** How often the client has sent this call before. */
  retry?: number;
  defaultEndUser?: string | undefined;
  /** Runs at each second that passes while the call waits. */
  meanwhile?: (second: number) => Promise<void> | void;
}

/** Calls of OpenAI's clients, in a time that passes when they wait. */
export class OpenAiCalls {
  private readonly world: RouteWorld;
  private readonly bucket: MemoryBucket;
  private readonly files = new LoopbackServer();
  /** Seconds that have passed since the world's time. */
  private passed = 0;

  constructor(world: RouteWorld, bucket: MemoryBucket) {
    this.world = world;
    this.bucket = bucket;
  }

  /** Of the one caller that calls without others. */
  private headers: Promise<Record<string, string>> | undefined;

  /** Serves the bucket's files at the URLs that are signed from now on. */
  async serveFiles(): Promise<void> {
    process.env.FILE_DELIVERY_BASE_URL = (await this.files.start()).url;
    process.env.ALLOW_PRIVATE_TARGETS = 'true';
  }

  stop(): Promise<void> {
    return this.files.close();
  }

  reset(): void {
    this.passed = 0;
    this.headers = undefined;
    this.files.respond = ({ path }, response) => {
      const object = this.bucket.objects.get(path.slice(1).split('?', 1)[0] ?? '');
      response.writeHead(object ? 200 : 403).end(object?.bytes);
    };
  }

  /** Lets seconds pass. */
  wait(seconds: number): void {
    this.passed += seconds;
  }

  /** `POST /openai/v1/images/generations`; `requestId` is that of the newest request. Throws its errors. */
  make(body: unknown, options: CallOptions = {}) {
    return this.call({ body }, { name: 'create-openai-image', read: readImageBody }, options);
  }

  /** `POST /openai/v1/images/edits`. */
  edit(event: ApiEvent, options: CallOptions = {}) {
    return this.call(event, EDIT_OPENAI_IMAGE, options);
  }

  private async call(
    event: ApiEvent,
    endpoint: ImageEndpoint,
    { headers: given, retry = 0, defaultEndUser, meanwhile, ...ending }: CallOptions,
  ) {
    const { memory, executions } = this.world;
    const headers = given ?? (await this.caller(defaultEndUser));
    memory.client.resetHistory();
    const before = executions.started.length;
    const newest = () => executions.started.slice(before).at(-1)?.name ?? '';
    const from = this.passed;
    const pace = {
      now: () => this.now(),
      sleep: async (milliseconds: number) => {
        this.passed += milliseconds / 1000;
        const second = this.passed - from;
        await meanwhile?.(second);
        if (second >= (ending.endsAfterSeconds ?? Number.POSITIVE_INFINITY)) this.succeed(newest(), ending);
      },
    };
    const whole = {
      ...event,
      headers: { ...event.headers, ...headers, 'X-Stainless-Retry-Count': String(retry) },
    };
    const request = new ApiRequest(anApiEvent(whole), this.now());
    return { ...read(await makeImages(request, endpoint, pace)), requestId: newest() };
  }

  private caller(defaultEndUser: string | undefined): Promise<Record<string, string>> {
    const create = async () => {
      const { keyId, headers } = await aCaller(this.world.memory);
      if (defaultEndUser !== undefined) this.world.memory.patch(apiKeyKey(keyId), { defaultEndUser });
      return headers;
    };
    this.headers ??= create();
    return this.headers;
  }

  private now(): Date {
    return new Date(this.world.now.getTime() + this.passed * 1000);
  }

  /** Ends a request: its files hold their own names. */
  succeed(requestId: string, { sizeBytes, notStored = [], expiresAt }: Ending = {}): void {
    const { memory } = this.world;
    const { images = 0 } = memory.get(requestKey(requestId)) as { images?: number };
    const outputs = Array.from({ length: images }, (_, index) => {
      if (notStored.includes(index)) return { index };
      const objectKey = `outputs/${requestId}/${index}.png`;
      this.bucket.put(objectKey);
      return { index, objectKey, sizeBytes: sizeBytes ?? objectKey.length };
    });
    const finishedAt = this.now().toISOString();
    const until = expiresAt ?? new Date(this.now().getTime() + 82_800_000).toISOString();
    memory.patch(requestKey(requestId), { status: 'succeeded', outputs, finishedAt, expiresAt: until });
  }

  /** Fails a request. */
  fail(requestId: string, code: ErrorCode): void {
    const error = { code, message: 'no' };
    const finishedAt = this.now().toISOString();
    this.world.memory.patch(requestKey(requestId), { status: 'failed', finishedAt, error });
  }
}

/** The world of a test file, its bucket, and calls in it; all are new before each test. */
export const useOpenAiCalls = () => {
  const world = new RouteWorld();
  const bucket = new MemoryBucket();
  const calls = new OpenAiCalls(world, bucket);
  beforeAll(() => calls.serveFiles());
  afterAll(() => calls.stop());
  beforeEach(() => {
    world.reset();
    bucket.reset();
    calls.reset();
  });
  const { memory, executions } = world;
  /** The requests that were created, oldest first. */
  const created = (): string[] => executions.started.map(({ name }) => name);
  return { world, memory, executions, bucket, calls, created };
};

/** The request that an answer's images are of. */
export const requestIn = ({ headers }: { headers: Record<string, unknown> }): string =>
  String(headers.Location).split('/').at(-1) ?? '';

/** Acts once, when this many seconds have passed. */
export const onceAt = (seconds: number, act: () => Promise<void>) => {
  let isDone = false;
  return async (second: number): Promise<void> => {
    if (isDone || second < seconds) return;
    isDone = true;
    await act();
  };
};
