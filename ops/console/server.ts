import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONSOLE_PAGES, consoleContentPolicy } from '../../core/files/pages.ts';
import {
  createOperatorEndpoint,
  isForOtherHost,
  OPERATOR_PREFIX,
  type OperatorEndpointOptions,
} from './endpoint.ts';

/** What a console shows. */
export interface ServedConsoleOptions extends Pick<OperatorEndpointOptions, 'run'> {
  /** Where `/docs` leads. */
  referenceUrl: string | undefined;
}

/** A console that is served. */
export interface ServedConsole {
  /** Its address, with the token. */
  url: string;
  close(): Promise<void>;
}

/** Of each answer: no page of another site loads, frames or keeps anything of this. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': consoleContentPolicy({ filesUrl: undefined, uploadsUrl: undefined }),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The console's files by path, built from these sources. */
const buildPages = async (): Promise<Map<string, { content: string | Uint8Array; contentType: string }>> => {
  // Loaded on demand: other commands need no bundler.
  const { bundleConsole } = await import('../../lib/bundle-console.ts');
  const contents = await bundleConsole();
  return new Map(
    CONSOLE_PAGES.map(({ file, key, contentType }) => [
      `/${key}`,
      { content: contents[file] ?? '', contentType },
    ]),
  );
};

/**
 * Serves the console for operators on a free port of loopback. Any process of this machine may read the pages, which
 * hold no data of the service. Every call of the operator's endpoint needs the token. The token stands after the `#`
 * of the address, which browsers never send; a cookie would go to every port of this machine.
 */
export const serveConsole = async ({ run, referenceUrl }: ServedConsoleOptions): Promise<ServedConsole> => {
  const pages = await buildPages();
  const token = randomBytes(32).toString('base64url');
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const operator = createOperatorEndpoint({ baseUrl, token, run });

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (isForOtherHost(request, baseUrl)) return say(response, 403, `This is ${baseUrl} only.`);
    if (path.startsWith(OPERATOR_PREFIX)) return operator(request, response);
    if (request.method !== 'GET') return say(response, 405, 'Pages are only read.');
    const leadsTo = path === '/' ? '/console' : path === '/docs' ? referenceUrl : undefined;
    if (leadsTo !== undefined) return void response.writeHead(302, { Location: leadsTo }).end();
    const page = pages.get(path);
    if (!page) return say(response, 404, 'There is no such page.');
    response.writeHead(200, { 'Content-Type': page.contentType }).end(page.content);
  };

  return {
    url: `${baseUrl}/console#operator-only=${token}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const say = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
};
