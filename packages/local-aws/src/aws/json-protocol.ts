import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { AwsError } from './errors.ts';

/** DynamoDB's limit on a request; no other JSON service accepts more. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Reads a whole request body. Throws `RequestEntityTooLargeException` (413) over 16 MB. */
export const readBody = (request: IncomingMessage): Promise<Buffer> =>
  // By events: an iterator costs several turns of the event loop for each of the many small bodies.
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(new AwsError('RequestEntityTooLargeException', 'Request body is too large', 413));
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', reject);
  });

/** Parses a JSON request body; an empty one is `{}`. Throws `SerializationException` when it is not a JSON object. */
export const parseJsonObject = (body: Buffer): Record<string, unknown> => {
  let parsed: unknown;
  try {
    parsed = body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
  } catch {
    throw new AwsError('SerializationException', 'Could not parse request body into json');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new AwsError('SerializationException', 'Start of structure or map found where not expected');
  }
  return parsed as Record<string, unknown>;
};

/** The operation an `X-Amz-Target` header names (`DynamoDB_20120810.GetItem` → `GetItem`); empty when there is none. */
export const operationOf = (request: IncomingMessage): string => {
  const target = request.headers['x-amz-target'];
  return typeof target === 'string' ? (target.split('.')[1] ?? '') : '';
};

/** Answers with a JSON body. `jsonVersion` is the protocol's: 1.0 for DynamoDB and Step Functions, 1.1 for Secrets Manager. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  jsonVersion: '1.0' | '1.1',
): void => {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': `application/x-amz-json-${jsonVersion}`,
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': randomUUID(),
  });
  response.end(text);
};

/** Answers with an error in the shape of the JSON protocols. */
export const sendJsonError = (
  response: ServerResponse,
  error: AwsError,
  jsonVersion: '1.0' | '1.1' = '1.0',
): void => sendJson(response, error.status, { __type: error.code, message: error.message }, jsonVersion);
