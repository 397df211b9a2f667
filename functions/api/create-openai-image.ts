import { streamingHandler } from '../http/api-handler.ts';
import { openAiErrorResponse } from '../openai/errors.ts';
import { makeImages } from '../openai/make-images.ts';
import { readImageBody } from '../openai/read-calls.ts';

/** POST /openai/v1/images/generations. 200 with the images; 400, 401, 403, 404, 408, 409, 429, 500, 503. */
export const handler = streamingHandler(
  (request) => makeImages(request, { name: 'create-openai-image', read: readImageBody }),
  openAiErrorResponse,
);
