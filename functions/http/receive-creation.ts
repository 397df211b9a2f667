import type { ReceivedCreation } from '../../core/creation/submission.ts';
import { type EndpointName, routeText } from '../../core/routes.ts';
import type { ApiRequest } from './api-request.ts';
import { wrongFields } from './check-all.ts';

/** Reads a creation from an HTTP request. Throws no refusal: authorization comes before any. */
export const receiveCreation = (
  request: ApiRequest,
  endpoint: EndpointName,
  keyId: string,
): ReceivedCreation => ({
  route: routeText(endpoint),
  body: request.readBody(),
  idempotencyKey: request.header('Idempotency-Key'),
  keyId,
  fields: wrongFields(
    () => request.query({}),
    () => request.idempotencyKey(),
  ),
  now: request.now,
});
