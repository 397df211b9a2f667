import type { APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import { NotFoundError, ServiceError } from '../../core/errors.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { exchange } from '../../core/http-exchange.ts';
import { recordUrl } from '../../core/requests/render-record.ts';
import { type StoredRequest, statusAt } from '../../core/requests/request-rules.ts';
import { toEpochSeconds } from '../../core/time.ts';
import { json } from '../http/api-handler.ts';
import { RefusedInputError } from './errors.ts';
import type { ImageParameters } from './parameters.ts';

/** The most characters of images in an answer: it takes five times as many bytes of a function of 256 MB, 80 of which are its modules. */
const MAX_BASE64 = 20_000_000;
/** Longest wait for a whole file: an answer has to be made in time. */
const READ_MS = 5_000;

/** An image in the answer. */
interface Item {
  b64_json?: string;
  url?: string;
}

/**
 * 200 with the images of a request that has ended, in their order. An image beyond the room of an answer has its URL only. Throws what
 * the request failed with, and `NotFoundError` when the files are gone.
 */
export const imagesResponse = async (
  request: StoredRequest,
  { responseFormat, ...told }: Pick<ImageParameters, 'responseFormat' | 'ignored' | 'endOfModel'>,
  now: Date,
): Promise<APIGatewayProxyResult> => {
  if (request.status === 'failed') {
    const { error } = request;
    if (error?.input) throw new RefusedInputError(error, error.input);
    throw new ServiceError(error?.code ?? 'internal_error', error?.message ?? 'The request failed.');
  }
  const { outputs = [], expiresAt } = request;
  if (expiresAt === undefined || statusAt(request, now) === 'expired')
    throw new NotFoundError('These images have expired.');
  const sign = await loadUrlSigner();
  let room = responseFormat === 'url' ? 0 : MAX_BASE64;
  const data = await Promise.all(
    outputs.flatMap(({ objectKey, sizeBytes = MAX_BASE64 }): Promise<Item>[] => {
      if (objectKey === undefined) return [];
      const length = Math.ceil(sizeBytes / 3) * 4;
      const url = sign(objectKey, expiresAt);
      if (length > room) return [Promise.resolve({ url })];
      room -= length;
      const others = responseFormat === 'b64_json' ? {} : { url };
      return [readFileAsBase64(url).then((text) => ({ b64_json: text, ...others }))];
    }),
  );
  const headers = imageHeaders(request.requestId, told);
  return json(200, { created: toEpochSeconds(request.createdAt), data }, headers);
};

/** The headers of an answer with images: the request's URL, the parameters without effect, and the end of the model. */
export const imageHeaders = (
  requestId: string,
  { ignored, endOfModel }: Pick<ImageParameters, 'ignored' | 'endOfModel'>,
): Record<string, string> => ({
  ...endOfModel,
  Location: recordUrl(requiredEnv('PUBLIC_BASE_URL'), { kind: 'image', requestId }),
  ...(ignored.length > 0 && { 'X-Ignored-Parameters': ignored.join(', ') }),
});

/**
 * The bytes of a stored file, in base64. Reads it by its signed URL, as callers do: no function has a right to read outputs. Throws
 * when it does not come whole.
 */
const readFileAsBase64 = async (signedUrl: string): Promise<string> => {
  const { statusCode, body } = await exchange(new URL(signedUrl), {
    method: 'GET',
    headers: { 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(READ_MS),
  });
  if (statusCode !== 200) {
    body.destroy();
    throw new Error(`The file server answered ${statusCode}.`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('base64');
};
