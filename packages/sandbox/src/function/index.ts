/** Entry point of the Lambda function. */
import { PLAIN_MEDIA } from '../media/plain-media.ts';
import { createHandler } from './handler.ts';

/** Takes the key of both upstreams from the variable `SANDBOX_API_KEY`. */
export const handler = createHandler({ apiKey: process.env.SANDBOX_API_KEY ?? '', media: PLAIN_MEDIA });
