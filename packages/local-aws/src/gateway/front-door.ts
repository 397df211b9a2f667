import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HandleRequest } from './gateway.ts';

/** The HTTP server for clients. */
export interface FrontDoor {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  baseUrl: string;
  /**
   * Serves requests from now on. `own` is asked first. `files` gets paths under `prefix` (with a slash at both ends)
   * and paths that `alsoAt` takes, `api` every other path.
   */
  open(handlers: {
    api: HandleRequest;
    files?: { prefix: string; alsoAt?: (path: string) => boolean; handle: HandleRequest };
    own?: OwnRoutes;
  }): void;
  /** Refuses new requests, gives those in flight 500 ms, and ends every connection. */
  close(): Promise<void>;
}

/** Paths that the program answers itself, and no resource of the stack. */
export interface OwnRoutes {
  /** Whether a request is for one of the paths. */
  takes: (request: IncomingMessage) => boolean;
  handle: HandleRequest;
}

const GRACE_MILLISECONDS = 500;

const NOT_OPEN_YET = JSON.stringify({
  error: { code: 'temporarily_unavailable', message: 'The local run is starting.' },
});

/**
 * Binds the port (0: any free port) on loopback, so that the port's number is known before the stack is synthesized.
 * Answers 503 until `open`. Rejects when the port is taken.
 */
export const startFrontDoor = async (port: number): Promise<FrontDoor> => {
  let handle: HandleRequest = async (_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' }).end(NOT_OPEN_YET);
  };
  const server = createServer((request, response) => void handle(request, response));
  // Longer than common clients keep idle connections, so that none meets a connection just being closed.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`Port ${port} is taken; give another one.`) : error),
    );
    server.listen(port, '127.0.0.1', resolve);
  });

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: ({ api, files, own }) => {
      handle = (request, response) => {
        const [path = ''] = (request.url ?? '').split('?', 1);
        if (own?.takes(request)) return own.handle(request, response);
        return files && (path.startsWith(files.prefix) || files.alsoAt?.(path))
          ? files.handle(request, response)
          : api(request, response);
      };
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), GRACE_MILLISECONDS);
      await closed;
      clearTimeout(timer);
    },
  };
};
