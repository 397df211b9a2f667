import { streamingHandler } from '../http/api-handler.ts';
import { EDIT_OPENAI_IMAGE } from '../openai/edit-image.ts';
import { openAiErrorResponse } from '../openai/errors.ts';
import { makeImages } from '../openai/make-images.ts';

/** POST /openai/v1/images/edits. 200 with the images; 400, 401, 403, 404, 408, 409, 429, 500, 503. */
export const handler = streamingHandler(
  (request) => makeImages(request, EDIT_OPENAI_IMAGE),
  openAiErrorResponse,
);
