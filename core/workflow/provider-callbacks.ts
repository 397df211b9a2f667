import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { requiredEnv } from '../environment.ts';
import { NotFoundError, ServiceError } from '../errors.ts';
import { readSecret } from '../provider-calls/credentials.ts';
import { noteCallback } from '../provider-calls/provider-waits.ts';
import { PROVIDER_IDS, type ProviderId } from '../provider-calls/providers.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { routePath } from '../routes.ts';
import { catchUp } from './catch-up.ts';
import type { ProviderRoute } from './workflow-rules.ts';

/** Where a provider calls back for a request. Nobody else can make such a URL: its end is a token of ours. */
export const callbackUrl = async (provider: ProviderId, requestId: string): Promise<string> =>
  requiredEnv('PUBLIC_BASE_URL') +
  routePath('receive-callback', { provider, requestId, token: await callbackToken(requestId) });

/** HMAC-SHA256 of the request's id under a secret of the deployment, in hex. */
const callbackToken = async (requestId: string): Promise<string> =>
  createHmac('sha256', await readSecret(requiredEnv('CALLBACK_SECRET_ARN')))
    .update(requestId)
    .digest('hex');

/** What the path of a callback names. */
export interface ProviderCallback {
  provider: string;
  requestId: string;
  token: string;
}

/** A provider gives up on an answer after 5 s: the question it leads to must be answered before. */
const QUERY_TIMEOUT_MS = 4_000;
const RETRY_AFTER_SECONDS = 5;

/**
 * Takes a provider's callback as a hint: asks the provider and applies what that says. One that is late or
 * repeated changes nothing. One that comes before the task is known is noted for whoever waits next.
 *
 * Throws `NotFoundError` for a wrong token, and `temporarily_unavailable`, so that the provider calls again,
 * when it could not be asked.
 */
export const receiveCallback = async (
  { provider, requestId, token }: ProviderCallback,
  providerRouteOf: (model: string) => Promise<ProviderRoute>,
  clock: Clock = systemClock,
): Promise<void> => {
  const known = (PROVIDER_IDS as readonly string[]).includes(provider);
  if (!known || !sameText(token, await callbackToken(requestId))) {
    throw new NotFoundError('There is nothing here.');
  }
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return;
  const wait = await noteCallback(requestId, clock.now());
  const { answered } = await catchUp(request, wait, providerRouteOf, clock, QUERY_TIMEOUT_MS);
  if (answered) return;
  throw new ServiceError('temporarily_unavailable', 'The provider could not be asked for the task.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
};

/** Compares in a time that does not tell how much of the text is right. */
const sameText = (given: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
};
