import type { IncomingMessage } from 'node:http';

/**
 * Whether a request to a server on loopback comes from a web page. Such a request names an origin, carries a
 * browser's `Sec-Fetch-Site`, or is addressed to another host whose name DNS pointed at loopback. Programs of a run
 * send no such request.
 */
export const isForeign = (request: Pick<IncomingMessage, 'headers' | 'socket'>): boolean =>
  isForAnotherHost(request) || isFromPage(request);

/** Whether a request was meant for another host. */
export const isForAnotherHost = ({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean =>
  headers.host !== `127.0.0.1:${socket.localPort}`;

const isFromPage = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
