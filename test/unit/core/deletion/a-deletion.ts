import { beforeEach, jest } from '@jest/globals';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { logger } from '../../../../core/observability.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { providerAttemptKey, providerWaitKey, webhookAttemptKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAttempt,
  anImageRequest,
  aStoredOutput,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { memory } from '../../fakes/fresh-table.ts';

export { bucket, memory };

export const warn = jest.spyOn(logger, 'warn');
export const error = jest.spyOn(logger, 'error');
jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  warn.mockReset();
  error.mockReset();
});

/** A succeeded request with two files and one output that was not stored. */
export const aSucceeded = (overrides: Partial<ImageRequest> = {}): ImageRequest =>
  anImageRequest({
    status: 'succeeded',
    outputs: [aStoredOutput(0), { index: 1 }, aStoredOutput(2)],
    expiresAt: atSeconds(10).toISOString(),
    ttl: NOW.getTime() / 1000 + 100,
    ...overrides,
  });
/**
 * Puts a request with its files, three provider calls, its wait and, for a request with a webhook, an attempt of the
 * webhook.
 */
export const given = (request: ImageRequest = aSucceeded()): void => {
  putRequest(memory, request);
  for (const { objectKey } of request.outputs ?? []) if (objectKey) bucket.put(objectKey);
  for (const call of [0, 1, 2]) {
    memory.put(
      providerAttemptKey(request.requestId, call, 0),
      anAttempt({ call, requestId: request.requestId }),
    );
  }
  memory.put(providerWaitKey(request.requestId), { requestId: request.requestId });
  if (request.webhookUrl) memory.put(webhookAttemptKey(request.requestId, request.requestId, 1), {});
};
/** Deletes the request. */
export const remove = (now = NOW, accountId = ACCOUNT_ID) => deleteRequest(accountId, REQUEST_ID, now);
/** All items of the request but the one that keeps late webhook attempts out. */
export const everything = () => [
  ...memory.partition(`REQUEST#${REQUEST_ID}`),
  ...memory.partition(`WEBHOOK_ATTEMPTS#${REQUEST_ID}`).filter(({ SK }) => SK !== 'DELETED'),
];
/** What `left` returns before. */
export const NOTHING_DONE = { attempts: 3, files: 2 };
/** What is left of it besides its record. */
export const left = () => ({
  attempts: everything().filter(({ SK }) => String(SK).startsWith('ATTEMPT#')).length,
  files: bucket.objects.size,
});
