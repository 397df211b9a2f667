import { Agent, type IncomingMessage, request } from 'node:http';
import { urlToHttpOptions } from 'node:url';

import { AwsError, messageOf, systemCodeOf } from '../errors.ts';
import { type JsonAnswer, readText } from '../json-protocol.ts';

/** Calls the DynamoDB engine over kept-alive connections. */
export interface DynamoDbClient {
  /** Forwards a call and returns the answer. */
  forward(operation: string, body: string): Promise<JsonAnswer>;
  /** Makes a call and returns the parsed result. Throws `AwsError` with the service's code, message and status. */
  call(operation: string, body: unknown): Promise<Record<string, unknown>>;
  close(): void;
}

/**
 * One credential for all callers: some engines, DynamoDB Local among them, keep separate data per access key and region. None checks the
 * signature.
 */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';

const PASSED_HEADERS = ['content-type', 'x-amzn-requestid', 'x-amz-crc32'];

/** A client of the engine at `endpoint`. */
export const createDynamoDbClient = (endpoint: string): DynamoDbClient => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  // Taken apart once: a request would parse its URL each time.
  const address = urlToHttpOptions(new URL(endpoint));

  const send = (operation: string, body: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const call = request({
        ...address,
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'content-length': Buffer.byteLength(body),
          'x-amz-target': `DynamoDB_20120810.${operation}`,
          'x-amz-date': '20200101T000000Z',
          authorization: AUTHORIZATION,
        },
      });
      call.on('response', resolve);
      call.on('error', (error) => {
        // The engine closed this kept-alive connection before reading the call: retry on another connection.
        if (call.reusedSocket && systemCodeOf(error) === 'ECONNRESET') resolve(send(operation, body));
        else reject(new AwsError('InternalServerError', `DynamoDB engine: ${messageOf(error)}`, 500));
      });
      call.end(body);
    });

  return {
    async forward(operation, body) {
      const answer = await send(operation, body);
      const headers: Record<string, string> = {};
      for (const name of PASSED_HEADERS) {
        const value = answer.headers[name];
        if (typeof value === 'string') headers[name] = value;
      }
      return { status: answer.statusCode ?? 500, headers, body: await readText(answer) };
    },
    async call(operation, body) {
      const answer = await send(operation, JSON.stringify(body));
      const text = await readText(answer);
      const result = JSON.parse(text) as Record<string, unknown>;
      if (answer.statusCode === 200) return result;
      const code = String(result.__type ?? 'InternalServerError').replace(/^.*#/, '');
      throw new AwsError(code, String(result.message ?? result.Message ?? ''), answer.statusCode ?? 500);
    },
    close: () => agent.destroy(),
  };
};
