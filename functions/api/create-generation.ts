import { parseImageRequest } from '../../core/creation/create-image-rules.ts';
import { createRequest } from '../../core/creation/create-request.ts';
import { routeText } from '../../core/routes.ts';
import { creationHandler } from '../http/creation-handler.ts';

/** POST /v1/generations. 202 with the queued record; 400, 401, 402, 403, 409, 422, 429, 503. */
export const handler = creationHandler(
  routeText('create-generation'),
  (body) => ({ parsed: parseImageRequest(body) }),
  (account, { parsed }, facts, idempotency, now) => createRequest(account, parsed, facts, idempotency, now),
);
