import { randomBytes } from 'node:crypto';
import type { Upstream } from './http.ts';
import * as errors from './modelark-errors.ts';
import { createImageHandler } from './modelark-images.ts';
import type { Outputs } from './outputs.ts';

/** BytePlus ModelArk, under its base path `/api/v3`. */
export const createModelArk = (options: {
  apiKey: string;
  outputs: Outputs;
  now: () => number;
}): Upstream => ({
  prefix: '/api/v3/',
  routes: [{ method: 'POST', path: /^\/api\/v3\/images\/generations$/, handle: createImageHandler(options) }],
  newRequestId: () => `02${options.now()}${randomBytes(16).toString('hex')}`,
  checkKey: ({ authorization }) => {
    if (authorization !== `Bearer ${options.apiKey}`) throw errors.authenticationError();
  },
  renderError: errors.renderError,
  faults: {
    unknownRoute: errors.unknownRoute,
    malformedBody: errors.malformedBody,
    bodyTooLarge: errors.bodyTooLarge,
    internal: errors.internalServiceError,
  },
});
