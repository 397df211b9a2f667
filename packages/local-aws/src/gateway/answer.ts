import type { ServerResponse } from 'node:http';

/** What goes back over HTTP. */
export interface Answer {
  statusCode: number;
  /** Values by name; a list stands for a header that is sent several times. */
  headers: Record<string, string | string[]>;
  body: Buffer;
}

/** Sends the answer. Throws when Node refuses a header, before anything was sent. */
export const sendAnswer = (response: ServerResponse, { statusCode, headers, body }: Answer): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (statusCode !== 204 && statusCode !== 304) response.setHeader('Content-Length', body.length);
  response.statusCode = statusCode;
  response.end(body);
};
