import type { APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import { NotFoundError, ServiceError } from '../../core/errors.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { recordUrl } from '../../core/requests/render-record.ts';
import { type StoredRequest, statusAt } from '../../core/requests/request-rules.ts';
import { toEpochSeconds } from '../../core/time.ts';
import { json } from '../http/api-handler.ts';
import { readFileAsBase64 } from './read-file.ts';

/** The most characters of images in an answer: beyond its first 6 MB, a function sends 2 MB a second. */
const MAX_BASE64 = 40_000_000;

/** An image in the answer. */
type Item = { b64_json: string } | { url: string };

/**
 * 200 with the images of a request that has ended, in their order. Images beyond the room of an answer come as
 * URLs. Throws what it failed with, and `NotFoundError` when the files are gone.
 */
export const imagesResponse = async (
  request: StoredRequest,
  wantsUrls: boolean,
  now: Date,
): Promise<APIGatewayProxyResult> => {
  if (request.status === 'failed') {
    const { code, message } = request.error ?? { code: 'internal_error', message: 'The request failed.' };
    throw new ServiceError(code, message);
  }
  const { outputs = [], expiresAt } = request;
  if (expiresAt === undefined || statusAt(request, now) === 'expired')
    throw new NotFoundError('These images have expired.');
  const sign = await loadUrlSigner();
  let room = wantsUrls ? 0 : MAX_BASE64;
  const data = await Promise.all(
    outputs.flatMap(({ objectKey, sizeBytes = MAX_BASE64 }): Promise<Item>[] => {
      if (objectKey === undefined) return [];
      const length = Math.ceil(sizeBytes / 3) * 4;
      const url = sign(objectKey, expiresAt);
      if (length > room) return [Promise.resolve({ url })];
      room -= length;
      return [readFileAsBase64(url).then((text) => ({ b64_json: text }))];
    }),
  );
  const headers = { Location: recordUrl(requiredEnv('PUBLIC_BASE_URL'), request) };
  return json(200, { created: toEpochSeconds(request.createdAt), data }, headers);
};
