import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { ErrorCode } from '../../../core/errors.ts';
import { apiKeyKey, requestKey } from '../../../core/table/keys.ts';
import { ApiRequest } from '../../../functions/http/api-request.ts';
import { handler as measureClips } from '../../../functions/media/measure-clips.ts';
import { EDIT_OPENAI_IMAGE } from '../../../functions/openai/edit-image.ts';
import { type ImageEndpoint, makeImages } from '../../../functions/openai/make-images.ts';
import { readImageBody } from '../../../functions/openai/read-calls.ts';
import { anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { EMAIL } from '../builders/entities.ts';
import { type ApiEvent, RouteWorld } from '../builders/route-world.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { MemoryFunctions } from '../fakes/memory-functions.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

/** A body of a call for one image. */
export const BODY = { model: 'xQI3Pro', prompt: 'a lighthouse', user: EMAIL };

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
  query?: NonNullable<ApiEvent['query']>;
  /** Runs at each second that passes while the call waits. */
  meanwhile?: (second: number) => Promise<void> | void;
}

/**
 * Calls of OpenAI's clients, in a simulated time that passes when calls wait, with a world and a bucket that are new
 * before each test.
 */
export const useOpenAiCalls = () => {
  const world = new RouteWorld();
  const { memory, executions } = world;
  const functions = new MemoryFunctions();
  functions.set(process.env.MEASURE_CLIPS_FUNCTION_ARN ?? '', measureClips);
  const files = new LoopbackServer();
  /** Seconds that have passed since the world's time. */
  let passed = 0;
  /** Of the one caller that calls without others. */
  let headersOfOne: Promise<Record<string, string>> | undefined;
  beforeAll(async () => {
    process.env.FILE_DELIVERY_BASE_URL = (await files.start()).url;
    process.env.ALLOW_PRIVATE_TARGETS = 'true';
  });
  afterAll(() => files.close());
  beforeEach(() => {
    world.reset();
    functions.reset();
    passed = 0;
    headersOfOne = undefined;
    files.respond = ({ path }, response) => {
      const object = bucket.objects.get(path.slice(1).split('?', 1)[0] ?? '');
      response.writeHead(object ? 200 : 403).end(object?.bytes);
    };
  });

  const now = () => new Date(world.now.getTime() + passed * 1000);
  /** The requests that were created, oldest first. */
  const created = (): string[] => executions.started.map(({ name }) => name);

  /** Ends a request: its files hold their own names. */
  const succeed = (requestId: string, { sizeBytes, notStored = [], expiresAt }: Ending = {}): void => {
    const { images = 0 } = memory.get(requestKey(requestId)) as { images?: number };
    const outputs = Array.from({ length: images }, (_, index) => {
      if (notStored.includes(index)) return { index };
      const objectKey = `outputs/${requestId}/${index}.png`;
      bucket.put(objectKey);
      return { index, objectKey, sizeBytes: sizeBytes ?? objectKey.length };
    });
    const finishedAt = now().toISOString();
    const until = expiresAt ?? new Date(now().getTime() + 82_800_000).toISOString();
    memory.patch(requestKey(requestId), { status: 'succeeded', outputs, finishedAt, expiresAt: until });
  };

  const aNewCaller = async (defaultEndUser: string | undefined) => {
    const { keyId, headers } = await aCaller(memory);
    if (defaultEndUser !== undefined) memory.patch(apiKeyKey(keyId), { defaultEndUser });
    return headers;
  };

  const call = async (
    event: ApiEvent,
    endpoint: ImageEndpoint,
    { headers: given, retry = 0, defaultEndUser, meanwhile, ...ending }: CallOptions = {},
  ) => {
    if (!given) headersOfOne ??= aNewCaller(defaultEndUser);
    const headers = given ?? (await headersOfOne);
    memory.client.resetHistory();
    const before = created().length;
    const newest = () => created().slice(before).at(-1) ?? '';
    const from = passed;
    const pace = {
      now,
      sleep: async (milliseconds: number) => {
        passed += milliseconds / 1000;
        const second = passed - from;
        await meanwhile?.(second);
        if (second >= (ending.endsAfterSeconds ?? Number.POSITIVE_INFINITY)) succeed(newest(), ending);
      },
    };
    const own = { ...event.headers, ...headers, 'X-Stainless-Retry-Count': String(retry) };
    const request = new ApiRequest(anApiEvent({ ...event, headers: own }), now());
    return { ...read(await makeImages(request, endpoint, pace)), requestId: newest() };
  };

  const calls = {
    /** `POST /openai/v1/images/generations`; `requestId` is that of the newest request. Throws its errors. */
    make: (body: unknown, options: CallOptions = {}) =>
      call(
        { body, ...(options.query && { query: options.query }) },
        { name: 'create-openai-image', read: readImageBody },
        options,
      ),
    /** `POST /openai/v1/images/edits`. */
    edit: (event: ApiEvent, options?: CallOptions) => call(event, EDIT_OPENAI_IMAGE, options),
    /** Lets seconds pass. */
    wait: (seconds: number): void => {
      passed += seconds;
    },
    succeed,
    /** Fails a request. */
    fail: (requestId: string, code: ErrorCode): void => {
      const ended = { status: 'failed', finishedAt: now().toISOString(), error: { code, message: 'no' } };
      memory.patch(requestKey(requestId), ended);
    },
  };
  return { world, memory, executions, functions, bucket, calls, created };
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
