import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { AwsError } from './errors.ts';

/** DynamoDB's limit on a request; no other JSON service accepts more. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const tooLarge = () => new AwsError('RequestEntityTooLargeException', 'Request body is too large', 413);

/** Throws `RequestEntityTooLargeException` (413) for a request body over 16 MB. */
export const checkSize = (bytes: number): void => {
  if (bytes > MAX_BODY_BYTES) throw tooLarge();
};

/** Reads a whole request body. Throws `RequestEntityTooLargeException` (413) over 16 MB. */
export const readBody = (request: IncomingMessage): Promise<Buffer> =>
  // By events: an iterator costs several turns of the event loop for each of the many small bodies.
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', reject);
  });

/** Reads a whole request body as text, as `readBody` does. */
export const readText = async (request: IncomingMessage): Promise<string> =>
  (await readBody(request)).toString('utf8');

/** Parses a JSON request body; an empty one is `{}`. Throws `SerializationException` when it is not a JSON object. */
export const parseJsonObject = (body: string): Record<string, unknown> => {
  let parsed: unknown;
  try {
    parsed = body === '' ? {} : JSON.parse(body);
  } catch {
    throw new AwsError('SerializationException', 'Could not parse request body into json');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new AwsError('SerializationException', 'Start of structure or map found where not expected');
  }
  return parsed as Record<string, unknown>;
};

/** The operation that an `X-Amz-Target` names (`DynamoDB_20120810.GetItem` → `GetItem`); empty when there is none. */
export const operationIn = (target: unknown): string =>
  typeof target === 'string' ? (target.split('.')[1] ?? '') : '';

/** The operation of a request's `X-Amz-Target` header. */
export const operationOf = (request: IncomingMessage): string => operationIn(request.headers['x-amz-target']);

/** The protocol's version: 1.0 for DynamoDB and Step Functions, 1.1 for Secrets Manager. */
export type JsonVersion = '1.0' | '1.1';

/** An answer with a JSON body. */
export interface JsonAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Makes an answer of a JSON body. */
export const jsonAnswer = (status: number, body: unknown, jsonVersion: JsonVersion): JsonAnswer => ({
  status,
  headers: {
    'content-type': `application/x-amz-json-${jsonVersion}`,
    'x-amzn-requestid': randomUUID(),
  },
  body: JSON.stringify(body),
});

/** An error in the shape of the JSON protocols. */
export const errorAnswer = (error: AwsError, jsonVersion: JsonVersion = '1.0'): JsonAnswer =>
  jsonAnswer(error.status, { __type: error.code, message: error.message }, jsonVersion);

/** Sends an answer. */
export const sendJsonAnswer = (response: ServerResponse, { status, headers, body }: JsonAnswer): void => {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
};
