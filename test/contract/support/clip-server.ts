import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web server whose files a caller can reference. */
export interface ClipServer {
  urlOf(name: string): string;
  /** Requests of any kind so far. */
  requests(): number;
  /** The `User-Agent` of the first request for a file. */
  agentOf(name: string): string | undefined;
  close(): Promise<void>;
}

/** Serves files by name, with range requests; anything else is 404, and so is one of `once` from its second request on. */
export const startClipServer = async (
  files: Record<string, Buffer | string>,
  once: readonly string[] = [],
): Promise<ClipServer> => {
  let requests = 0;
  const gone = new Set<string>();
  const agents = new Map<string, string>();
  const server = createServer((request, response) => {
    requests += 1;
    const name = decodeURIComponent((request.url ?? '/').slice(1));
    const known = Object.hasOwn(files, name) && !gone.has(name) ? files[name] : undefined;
    const file = typeof known === 'string' ? Buffer.from(known) : known;
    if (once.includes(name)) gone.add(name);
    if (!agents.has(name)) agents.set(name, request.headers['user-agent'] ?? '');
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    const end = Math.min(Number(to ?? file.length), file.length - 1);
    if (from === undefined) response.writeHead(200, { 'content-length': file.length }).end(file);
    else if (start >= file.length) response.writeHead(416).end();
    else {
      const part = file.subarray(start, end + 1);
      const range = `bytes ${start}-${end}/${file.length}`;
      response.writeHead(206, { 'content-range': range, 'content-length': part.length }).end(part);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    requests: () => requests,
    agentOf: (name) => agents.get(name),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
