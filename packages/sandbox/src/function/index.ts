/** Entry point of the Lambda function. */
import { PLAIN_MEDIA } from '../media/plain-media.ts';
import { createHandler } from './handler.ts';

const { SANDBOX_API_KEY: apiKey = '', SANDBOX_MAX_RUNNING: maxRunning } = process.env;

/**
 * Takes the key of both upstreams from the variable `SANDBOX_API_KEY`, and from `SANDBOX_MAX_RUNNING`, where it is set, how
 * many tasks of a model an instance of the function takes at once.
 */
export const handler = createHandler({
  apiKey,
  media: PLAIN_MEDIA,
  ...(maxRunning !== undefined && { maxRunning: Number(maxRunning) }),
});
