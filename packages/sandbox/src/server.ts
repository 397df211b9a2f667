import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answerCall } from './answer-call.ts';
import { type CallbackTiming, createCallbacks } from './callbacks.ts';
import { type Capacity, capacityOf } from './capacity.ts';
import { fetchInputs } from './fetch-inputs.ts';
import type { Upstream } from './http.ts';
import { type CheckInputs, takeAllInputs } from './input-files.ts';
import { drawImage } from './media/draw-image.ts';
import { encodeVideo } from './media/encode-video.ts';
import { PLAIN_MEDIA } from './media/plain-media.ts';
import { createOutputs, type Outputs } from './outputs.ts';
import { createTaskJournal, type TaskJournal } from './task-journal.ts';
import type { CreateUpstream } from './upstream.ts';
import { createUpstreams, upstreamOf } from './upstreams.ts';

const OUTPUTS_PATH = '/outputs';
const JOURNAL_PATH = '/sandbox/tasks';
const WEBHOOKS_PATH = '/sandbox/webhooks';

/** Longer than clients keep idle connections, so the server never closes one that a client is about to reuse. */
const KEEP_ALIVE_MILLISECONDS = 65_000;

const sendJson = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.length,
    ...headers,
  });
  response.end(bytes);
};

/** Aborted when the connection closes before the response is complete. */
const signalOf = (response: ServerResponse): AbortSignal => {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
};

const callUpstream = async (
  upstream: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => {
  const { method = 'GET', headers, url = '' } = request;
  const answer = await answerCall(upstream, {
    method,
    path,
    search: url.slice(path.length),
    headers,
    body: request,
    signal: signalOf(response),
  });
  if (answer) sendJson(response, answer.status, answer.body, answer.headers);
};

/** Streams an output at the client's pace, so a large file is never held in memory. */
const sendOutput = async (
  outputs: Outputs,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const output = isRead ? outputs.find(path.slice(OUTPUTS_PATH.length + 1)) : ({ status: 404 } as const);
  if ('status' in output) {
    response.writeHead(output.status, { 'Content-Type': 'application/xml' });
    response.end('<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>');
    return;
  }
  try {
    const content = await output.read();
    response.writeHead(200, {
      'Content-Type': output.contentType,
      'Content-Length': content.sizeBytes,
      ETag: output.etag,
    });
    // For a HEAD, `writeHead` is all; piping would generate the padding for nothing.
    if (request.method === 'HEAD') response.end();
    else await pipeline(Readable.from(content.chunks()), response);
  } catch (error) {
    // The client disconnected during the download.
    if (response.headersSent) return;
    console.error('sandbox: failed to produce an output', error);
    response.writeHead(500, { 'Content-Type': 'application/xml' });
    response.end('<Error><Code>InternalError</Code></Error>');
  }
};

/** The journal, which no upstream has: `GET /sandbox/tasks/<id>` and `GET /sandbox/tasks?prompt=<substring>`, without a key. */
const sendJournal = (journal: TaskJournal, request: IncomingMessage, response: ServerResponse) => {
  const { pathname, searchParams } = new URL(`http://sandbox${request.url ?? '/'}`);
  if (pathname === JOURNAL_PATH) {
    sendJson(response, 200, { tasks: journal.list(searchParams.get('prompt') ?? '') });
    return;
  }
  const record = journal.find(pathname.slice(JOURNAL_PATH.length + 1));
  sendJson(response, record ? 200 : 404, record ?? { error: 'there is no such task' });
};

/** A receiver for webhooks, which no upstream has: `POST /sandbox/webhooks` takes anything, without a key, and keeps nothing. */
const takeWebhook = (request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  response.writeHead(request.method === 'POST' ? 204 : 405).end();
};

/** Settings of a sandbox. */
export type SandboxOptions = {
  /** Default 0: any free port. */
  port?: number;
  /** The address to listen on. Default 127.0.0.1. */
  host?: string;
  /** The key that all upstreams accept. Default `sandbox-key`. */
  apiKey?: string;
  /** Draw images without writing, which takes a tenth of the time. Default false. */
  plainImages?: boolean;
  /** Further upstreams; default none. */
  upstreams?: readonly CreateUpstream[];
  /** Defaults: 5 s to acknowledge a callback, 8 s for a late one. */
  callbackTiming?: Partial<CallbackTiming>;
  /** What the upstreams let an account do at once, for each model. Default: no limits. */
  capacity?: Capacity;
  /** The most calls, and the most tasks, of a model at once; others are refused. What `capacity` says wins. Default: any number. */
  maxRunning?: number | undefined;
  /** How long the URLs of outputs are valid, in seconds. Default: 24 hours. */
  outputSeconds?: number;
  /** Whether the files that calls name are fetched and checked, as the upstreams do. Default true. */
  fetchInputs?: boolean;
  /** Whether they are also fetched from this machine and private networks. Default true. */
  allowPrivateTargets?: boolean;
};

/** A running sandbox. */
export type Sandbox = {
  /** The origin of all routes and output URLs, such as `http://127.0.0.1:4000`. */
  url: string;
  /** Closes open connections, aborts callbacks and drops all data. */
  close(): Promise<void>;
};

/**
 * Starts ModelArk (`/api/v3`), Model Studio (`/api/v1`) and fal (`/fal`) on one port, with the outputs of all under `/outputs` and the
 * journal of their tasks under `/sandbox/tasks`. All data is in memory. Rejects when the port is taken.
 */
export const startSandbox = async ({
  port = 0,
  host = '127.0.0.1',
  apiKey = 'sandbox-key',
  plainImages = false,
  upstreams = [],
  callbackTiming = {},
  capacity: givenCapacity,
  maxRunning,
  outputSeconds,
  fetchInputs: isFetching = true,
  allowPrivateTargets: allowPrivate = true,
}: SandboxOptions = {}): Promise<Sandbox> => {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const openPort = typeof address === 'object' && address ? address.port : port;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${openPort}`;

  const outputs = createOutputs({
    baseUrl: `${url}${OUTPUTS_PATH}`,
    now: Date.now,
    lifetimeSeconds: outputSeconds,
    media: { drawImage: plainImages ? PLAIN_MEDIA.drawImage : drawImage, encodeVideo },
  });
  const capacity = { ...(maxRunning !== undefined && capacityOf(maxRunning)), ...givenCapacity };
  const checkInputs: CheckInputs = isFetching
    ? (model, files) => fetchInputs(model, files, { allowPrivate })
    : takeAllInputs;
  const journal = createTaskJournal();
  const callbacks = createCallbacks({ journal, now: Date.now, timing: callbackTiming });
  const parts = { apiKey, outputs, journal, callbacks, now: Date.now, capacity, checkInputs };
  const all: [Upstream, ...Upstream[]] = [
    ...createUpstreams(parts),
    ...upstreams.map((create) => create({ apiKey, outputs, journal, callbacks, now: Date.now })),
  ];

  server.on('request', (request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/, '');
    if (path.startsWith(`${OUTPUTS_PATH}/`)) return void sendOutput(outputs, request, response, path);
    if (path === JOURNAL_PATH || path.startsWith(`${JOURNAL_PATH}/`)) {
      return sendJournal(journal, request, response);
    }
    if (path === WEBHOOKS_PATH) return takeWebhook(request, response);
    void callUpstream(upstreamOf(path, all), request, response, path);
  });

  return {
    url,
    close: () =>
      new Promise((resolve, reject) => {
        callbacks.close();
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
};
