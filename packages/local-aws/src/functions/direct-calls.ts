/**
 * Runs in a worker thread, in which it takes the AWS calls of a function's SDK from `node:http` and hands them to the runtime: a call over
 * HTTP costs two processors more than its work. Imports only Node's own modules, as the bootstrap does.
 */
import { EventEmitter } from 'node:events';
import type { RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import type { DirectAnswer, DirectCall } from '../aws/direct-calls.ts';

/** Not imported: that reads all of its exports, and three of them load Node's `undici`, 10 MB and some 50 ms of each thread. */
const http = process.getBuiltinModule('node:http');

/** The services that are called so, by `X-Amz-Target`: their requests and answers are whole texts. */
const TARGETS = /^(DynamoDB_20120810|secretsmanager|AWSStepFunctions)\./;

/** Node's error for a connection that breaks before an answer. */
const hangUp = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A request as far as the SDK's HTTP client knows one. It sends its body by one `end`, and sets time limits on a socket. */
class DirectRequest extends EventEmitter {
  readonly socket = {
    connecting: false,
    setTimeout: (milliseconds: number, onTimeout: () => void) => {
      this.#silence = setTimeout(onTimeout, milliseconds);
    },
    setKeepAlive: () => undefined,
    removeListener: () => undefined,
    destroy: () => this.destroy(),
  };
  readonly #send: (body: string) => void;
  #silence: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(send: (body: string) => void) {
    super();
    this.#send = send;
  }

  end(body: string | Uint8Array = ''): void {
    this.#send(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  }

  /** Gives the request up; its answer is dropped. */
  destroy(error: Error = hangUp()): void {
    if (this.#close()) process.nextTick(() => this.emit('error', error));
  }

  take(answer: DirectAnswer): void {
    if (answer === 'lost') {
      this.destroy();
      return;
    }
    if (!this.#close()) return;
    const { status, headers, body } = answer;
    const response = new Readable({ read: () => undefined });
    response.push(body);
    response.push(null);
    const head = { statusCode: status, statusMessage: http.STATUS_CODES[status], headers, complete: true };
    this.emit('response', Object.assign(response, head));
  }

  /** Whether this ended it. */
  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#silence);
    process.nextTick(() => this.emit('close'));
    return true;
  }
}

/**
 * From now on, `http.request` hands calls of these services at `endpointUrl` to `send`, numbered; all other requests are made as ever. Returns
 * what takes the answer to a call.
 */
export const interceptCalls = (
  endpointUrl: string,
  send: (id: number, call: DirectCall) => void,
): ((id: number, answer: DirectAnswer) => void) => {
  const { hostname, port } = new URL(endpointUrl);
  const open = new Map<number, DirectRequest>();
  const overHttp = http.request;
  let lastId = 0;

  const direct = ({ target, authorization }: Omit<DirectCall, 'body'>): DirectRequest => {
    lastId += 1;
    const id = lastId;
    const request = new DirectRequest((body) => send(id, { target, authorization, body }));
    open.set(id, request);
    return request.once('close', () => open.delete(id));
  };

  const intercepting = (...args: [options: RequestOptions, onResponse: () => void]) => {
    const [options, onResponse] = args;
    const headers = options.headers as Record<string, unknown> | undefined;
    const { 'x-amz-target': target, authorization } = headers ?? {};
    const isCall =
      options.host === hostname &&
      String(options.port) === port &&
      typeof target === 'string' &&
      typeof authorization === 'string' &&
      TARGETS.test(target);
    return isCall ? direct({ target, authorization }).once('response', onResponse) : overHttp(...args);
  };
  http.request = intercepting as typeof http.request;

  return (id, answer) => open.get(id)?.take(answer);
};
