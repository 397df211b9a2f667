import { world } from '../current.ts';

/** Stands in for a dispatcher: none opens a connection. */
export class Agent {
  readonly options: unknown;
  constructor(options?: unknown) {
    this.options = options;
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
  destroy(): Promise<void> {
    return Promise.resolve();
  }
}
export { Agent as Client, Agent as Pool };

/** Opens no connection either. */
export const buildConnector = (): unknown => () => {
  throw new Error('Nothing connects in the simulation.');
};

/** The errors of the library that the service tells apart. */
export const errors = { UndiciError: class extends Error {} };

interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string | null;
  signal?: AbortSignal;
}

/** What `request` gives of an answer's body. */
export interface Body extends AsyncIterable<Uint8Array> {
  on(): Body;
  destroy(): Body;
  text(): Promise<string>;
  json(): Promise<unknown>;
  dump(): Promise<void>;
}

const bodyOf = (bytes: Uint8Array): Body => ({
  on: () => bodyOf(bytes),
  destroy: () => bodyOf(bytes),
  text: async () => Buffer.from(bytes).toString('utf8'),
  json: async () => JSON.parse(Buffer.from(bytes).toString('utf8')),
  dump: async () => undefined,
  async *[Symbol.asyncIterator]() {
    yield bytes;
  },
});

/** An HTTP request, answered by the world's upstreams. */
export const request = async (url: string | URL, options: RequestOptions = {}) => {
  const answer = await world().http.request({
    url: String(url),
    method: options.method ?? 'GET',
    headers: options.headers ?? {},
    body: options.body ?? '',
    signal: options.signal,
  });
  return { statusCode: answer.status, headers: answer.headers ?? {}, body: bodyOf(answer.bytes) };
};
