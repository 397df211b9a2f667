import { apiHandler } from '../http/api-handler.ts';
import { openAiErrorResponse } from '../openai/errors.ts';
import { readImageForm } from '../openai/forms.ts';
import { makeImages } from '../openai/make-images.ts';

/** POST /openai/v1/images/edits. 200 with the images; 400, 401, 403, 404, 408, 409, 429, 500, 503. */
export const handler = apiHandler(
  (request) => makeImages(request, 'edit-openai-image', readImageForm),
  openAiErrorResponse,
);
