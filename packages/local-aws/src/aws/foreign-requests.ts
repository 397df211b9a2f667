import type { IncomingMessage } from 'node:http';

/**
 * Whether a request to a server on loopback comes from a web page: it names an origin, a browser sent it, or it was meant for
 * another host, which DNS had lead here. The programs of a run send none of these.
 */
export const isForeign = (request: Pick<IncomingMessage, 'headers' | 'socket'>): boolean =>
  isForAnotherHost(request) || isFromPage(request);

/** Whether a request was meant for another host. */
export const isForAnotherHost = ({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean =>
  headers.host !== `127.0.0.1:${socket.localPort}`;

const isFromPage = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
