import type { ServerResponse } from 'node:http';

/** An HTTP response. */
export interface Answer {
  statusCode: number;
  /** Values by name; a list is sent as several headers. */
  headers: Record<string, string | string[]>;
  body: Buffer;
}

/** Sends the answer. Throws before sending anything when Node.js refuses a header. */
export const sendAnswer = (response: ServerResponse, { statusCode, headers, body }: Answer): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (statusCode !== 204 && statusCode !== 304) response.setHeader('Content-Length', body.length);
  response.statusCode = statusCode;
  response.end(body);
};
