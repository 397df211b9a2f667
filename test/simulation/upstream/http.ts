import { makeCall, STALLED_MS } from '../engine/effects.ts';
import { never } from '../engine/invocation.ts';
import type { World } from '../world.ts';
import type { Providers } from './providers.ts';

export interface HttpRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  bytes: Uint8Array;
  headers?: Record<string, string>;
}

/** Whoever answers at a host. */
export type Site = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

const ERRORS = { refused: 'ECONNREFUSED', lost: 'UND_ERR_SOCKET' };

/** The network beyond AWS: one try a request, which can fail before or after the site has seen it. */
export class Http {
  /** Other sites, by host name. */
  readonly sites = new Map<string, Site>();
  private readonly world: World;
  private readonly providers: Providers;

  constructor(world: World, providers: Providers) {
    this.world = world;
    this.providers = providers;
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const { signal } = request;
    const url = new URL(request.url);
    const site: Site = this.sites.get(url.hostname) ?? ((asked) => this.providers.answer(asked));
    signal?.throwIfAborted();
    const answered = makeCall(this.world, {
      name: `${request.method} ${url.hostname}${url.pathname}`,
      maxTries: 1,
      slowestMs: STALLED_MS,
      perform: () => site(request),
      errors: ERRORS,
    });
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([answered, signal ? aborted : never<never>()]);
  }
}

/** An answer with a JSON body. */
export const jsonAnswer = (status: number, body: unknown): HttpAnswer => ({
  status,
  bytes: Buffer.from(JSON.stringify(body)),
});
