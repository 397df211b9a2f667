import OpenAI from 'openai';
import { type Caller, unique } from './client.ts';
import { uniqueEmail } from './resources.ts';

/** OpenAI's client for a caller. */
export const clientOf = ({ service, key }: Caller, options: object = {}): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${service.baseUrl}/openai/v1`, ...options });

/** The end-user of images. */
export const user = uniqueEmail();
/** A call of one small image for `user`. */
export const anAskedImage = (more: object = {}) => ({
  model: 'xZI1.0Pro',
  prompt: unique(),
  size: '512x512' as const,
  user,
  ...more,
});
/** The error of a call that fails; undefined for others. */
export const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
