import { findRequest } from '../../core/requests/requests.ts';
import { recordReader } from '../http/record-reader.ts';

/** GET /v1/generations/{requestId}. 200 with the record; 404 for what is not an image request of the caller's. */
export const handler = recordReader('image', async (requestId) => ({
  request: await findRequest(requestId),
}));
