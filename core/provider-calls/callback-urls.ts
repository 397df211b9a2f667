import { createHmac, timingSafeEqual } from 'node:crypto';
import { requiredEnv } from '../environment.ts';
import type { ProviderId } from '../provider-names.ts';
import { routePath } from '../routes.ts';
import { readSecret } from '../secrets.ts';

/** The URL a provider calls back for a request. It ends in a token that only this deployment can make. */
export const callbackUrl = async (provider: ProviderId, requestId: string): Promise<string> =>
  requiredEnv('PUBLIC_BASE_URL') +
  routePath('receive-callback', { provider, requestId, token: await callbackToken(provider, requestId) });

/** Whether a token is the one in the URL this provider calls back for a request. Compares in constant time. */
export const isCallbackToken = async (
  token: string,
  provider: string,
  requestId: string,
): Promise<boolean> => {
  const [given, expected] = [Buffer.from(token), Buffer.from(await callbackToken(provider, requestId))];
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
};

/** HMAC-SHA256 of the provider and the request id under the deployment's callback secret, in hex. */
const callbackToken = async (provider: string, requestId: string): Promise<string> =>
  createHmac('sha256', await readSecret(requiredEnv('CALLBACK_SECRET_ARN')))
    .update(`${provider}\n${requestId}`)
    .digest('hex');
