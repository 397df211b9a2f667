import type { ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';

/** An HTTP response. */
export interface Answer {
  statusCode: number;
  /** Values by name; a list is sent as several headers. */
  headers: Record<string, string | string[]>;
  /** Whole, or as it is made. */
  body: Buffer | Readable;
}

/**
 * Sends the answer. Throws before sending anything when Node.js refuses a header. Breaks the connection when a body ends before it is
 * whole.
 */
export const sendAnswer = (response: ServerResponse, { statusCode, headers, body }: Answer): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = statusCode;
  if (!Buffer.isBuffer(body)) {
    pipeline(body, response, () => undefined);
    return;
  }
  if (statusCode !== 204 && statusCode !== 304) response.setHeader('Content-Length', body.length);
  response.end(body);
};
