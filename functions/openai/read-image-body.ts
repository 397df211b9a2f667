import type { ApiRequest } from '../http/api-request.ts';
import type { AskedImages } from './make-images.ts';

/** Reads a JSON body. Throws `ValidationError` for a body that is not JSON, or too large. */
export const readImageBody = async (request: ApiRequest): Promise<AskedImages> => {
  const read = request.readBody();
  if (!read.ok) throw read.error;
  return { given: read.body, images: [], fields: {} };
};
