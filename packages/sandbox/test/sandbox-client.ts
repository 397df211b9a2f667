import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { startSandbox } from '../src/server.ts';
import type { TaskRecord } from '../src/task-journal.ts';

const API_KEY = 'test-key';

/**
 * Starts a sandbox, with short functions to call it. They send the API key unless `headers` override it, and query tasks as often as they
 * like unless `capacity` says otherwise.
 */
export const aSandbox = async (
  options: Omit<Parameters<typeof startSandbox>[0] & object, 'port' | 'host' | 'apiKey'> = {},
) => {
  const capacity = { taskCallsPerSecond: 1_000, ...options.capacity };
  const sandbox = await startSandbox({ apiKey: API_KEY, ...options, capacity });
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

  return {
    ...sandbox,
    call,
    arkImages: (fields: Record<string, unknown>) =>
      call('POST', '/api/v3/images/generations', {
        model: 'dola-seedream-5-0-pro-260628',
        size: '1280x720',
        watermark: false,
        ...fields,
      }),
    studioImages: (fields: Record<string, unknown>, headers?: Record<string, string>) =>
      call('POST', '/api/v1/services/aigc/multimodal-generation/generation', fields, headers),
    studioTask: (
      fields: Record<string, unknown>,
      headers: Record<string, string> = { 'x-dashscope-async': 'enable' },
    ) => call('POST', '/api/v1/services/aigc/image-generation/generation', fields, headers),
    arkVideo: (fields: Record<string, unknown>) => call('POST', '/api/v3/contents/generations/tasks', fields),
    studioVideo: (
      fields: Record<string, unknown>,
      headers: Record<string, string> = { 'x-dashscope-async': 'enable' },
    ) => call('POST', '/api/v1/services/aigc/video-generation/video-synthesis', fields, headers),
    /** What ModelArk, or Model Studio, says of a task. */
    arkTask: async <Task>(id: string) =>
      (await (await call('GET', `/api/v3/contents/generations/tasks/${id}`)).json()) as Task,
    studioTaskOf: async <Task>(id: string) =>
      (await (await call('GET', `/api/v1/tasks/${id}`)).json()) as Task,
    /** The journal's record of a task; undefined when unknown. */
    journalOf: async (id: string): Promise<TaskRecord | undefined> => {
      const response = await fetch(`${sandbox.url}/sandbox/tasks/${id}`);
      return response.ok ? ((await response.json()) as TaskRecord) : undefined;
    },
  };
};

/** A sandbox for all tests of a file or a describe. It is there once they begin. */
export const useSandbox = (
  options: Parameters<typeof aSandbox>[0] = {},
): Awaited<ReturnType<typeof aSandbox>> => {
  const sandbox = {} as Awaited<ReturnType<typeof aSandbox>>;
  beforeAll(async () => {
    Object.assign(sandbox, await aSandbox(options));
  });
  afterAll(() => sandbox.close());
  return sandbox;
};

/** The body of a Model Studio image call. */
export const aStudioRequest = ({
  model = 'qwen-image-3.0-pro',
  prompt = 'a red fox',
  images = [],
  parameters = {},
}: {
  model?: string;
  prompt?: string;
  images?: string[];
  parameters?: Record<string, unknown>;
} = {}) => ({
  model,
  input: { messages: [{ role: 'user', content: [...images.map((image) => ({ image })), { text: prompt }] }] },
  parameters: { size: '512*512', ...parameters },
});

/** The body of a ModelArk video call. */
export const anArkVideo = ({
  prompt = 'a red fox',
  media = [],
  ...fields
}: {
  prompt?: string;
  media?: unknown[];
  [field: string]: unknown;
} = {}) => ({
  model: 'dreamina-seedance-2-0-260128',
  content: [{ type: 'text', text: prompt }, ...media],
  ...fields,
});

/** The body of a Model Studio video call. */
export const aStudioVideo = ({
  model = 'wan3.0-video',
  prompt = 'a red fox',
  media = [],
  parameters = {},
}: {
  model?: string;
  prompt?: string;
  media?: unknown[];
  parameters?: Record<string, unknown>;
} = {}) => ({ model, input: { prompt, media }, parameters });

/** Ids, and times, in Model Studio's answers. */
export const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);

/** A medium of a Model Studio video call, and several of them. */
export const aMedium = (type: string, url = 'https://example.com/media') => ({ type, url });
export const several = (type: string, count: number) => Array.from({ length: count }, () => aMedium(type));

/** The status of an answer with the fields of its body. */
export const answerOf = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as Record<string, unknown>),
});

/** The status of a refusal by ModelArk with the fields of its error. */
export const arkErrorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: Record<string, string> };
  return { status: response.status, ...error };
};

/** The status of an answer with the code of its error, of either upstream. */
export const outcomeOf = async (response: Response) => {
  const body = (await response.json()) as { code?: string; error?: { code: string } };
  return [response.status, body.error?.code ?? body.code];
};

/** The id of the task that an answer of either upstream created. */
export const taskIdOf = async (response: Response): Promise<string> => {
  const { id, output } = (await response.json()) as { id?: string; output?: { task_id: string } };
  return id ?? output?.task_id ?? '';
};

/** Starts a server that keeps the JSON bodies of POSTs. `statusOf` gives the status of each call (from 0), or no response. */
export const aReceiver = async (statusOf: (call: number) => number | 'never' = () => 200) => {
  const calls: { id: string; status: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = statusOf(calls.length);
    calls.push(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    if (status !== 'never') response.writeHead(status, { location: '/callback' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    calls,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Calls `query` after 20 ms, and then ever longer pauses of up to 60 ms, until `accept` returns true. Throws after `withinMilliseconds`. */
export const poll = async <Answer>(
  query: () => Promise<Answer>,
  accept: (answer: Answer) => boolean,
  withinMilliseconds = 60_000,
): Promise<Answer> => {
  const until = Date.now() + withinMilliseconds;
  for (let pause = 20; ; pause = Math.min(1.2 * pause, 60)) {
    const answer = await query();
    if (accept(answer)) return answer;
    if (Date.now() > until) throw new Error(`not reached in time; last answer: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
};
