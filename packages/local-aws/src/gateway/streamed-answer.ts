import { PassThrough } from 'node:stream';
import type { TakeChunk } from '../types.ts';
import type { Answer } from './answer.ts';
import type { GatewayResponseType } from './gateway-response.ts';
import { proxyAnswer } from './proxy-answer.ts';

/**
 * A function's stream begins with metadata, within so many bytes, and a delimiter:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
const MAX_METADATA_BYTES = 16 * 1024;
const DELIMITER = Buffer.alloc(8);

/** An HTTP answer that a function makes part by part. */
export interface StreamedAnswer {
  /** Resolves once the metadata is there, or with an error of the gateway when it is malformed or never comes. */
  answer: Promise<Answer | GatewayResponseType>;
  /** Takes the next part. */
  take: TakeChunk;
  /** Ends the body; with a problem, breaks it off. */
  end(problem?: GatewayResponseType): void;
}

/** Reads a function's stream as an HTTP answer. */
export const openStreamedAnswer = (): StreamedAnswer => {
  const body = new PassThrough();
  const { promise: answer, resolve } = Promise.withResolvers<Answer | GatewayResponseType>();
  /** The parts before the body; undefined once the body has begun. */
  let head: Buffer | undefined = Buffer.alloc(0);

  const end = (problem?: GatewayResponseType): void => {
    resolve(problem ?? 'INTEGRATION_FAILURE');
    if (problem || head) body.destroy();
    else body.end();
  };
  return {
    answer,
    take(chunk) {
      if (!head) {
        if (!body.destroyed) body.write(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const at = head.indexOf(DELIMITER);
      if (at > MAX_METADATA_BYTES || (at < 0 && head.length > MAX_METADATA_BYTES)) end('INTEGRATION_FAILURE');
      if (at < 0) return;
      const read = answerOf(head.subarray(0, at));
      if (read) resolve({ ...read, body });
      else end('INTEGRATION_FAILURE');
      if (!body.destroyed) body.write(head.subarray(at + DELIMITER.length));
      head = undefined;
    },
    end,
  };
};

const answerOf = (metadata: Buffer): Answer | undefined => {
  try {
    return proxyAnswer({ ...JSON.parse(metadata.toString()), body: null }, [], undefined);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
