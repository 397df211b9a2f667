import { createHmac, timingSafeEqual } from 'node:crypto';
import { requiredEnv } from '../environment.ts';
import { isProviderId, makerOf, namesOfProvider, type ProviderId } from '../provider-names.ts';
import { routePath } from '../routes.ts';
import { acceptedTexts, readSecret } from '../secrets.ts';

/** A call was made at an address that is not configured. Repeating helps once a deployment declares it as the previous one. */
export class UnknownAddressError extends Error {
  override name = 'UnknownAddressError';
}

/**
 * A provider's address: today's or, for a call made at the declared previous one, that. Throws `UnknownAddressError` for any other `calledAt`. Many roles write
 * the table it comes from, and the provider's key is sent there.
 */
export const providerAddress = (provider: ProviderId, calledAt?: string): string => {
  const { baseUrlVariable, previousBaseUrlVariable } = namesOfProvider(provider);
  const today = isProviderId(provider) ? process.env[baseUrlVariable] : undefined;
  if (!today) throw new UnknownAddressError(`${provider} is no configured account.`);
  const address = [today, process.env[previousBaseUrlVariable]].find((one) => one === (calledAt ?? today));
  if (address === undefined)
    throw new UnknownAddressError(`${calledAt} is no configured address of ${provider}.`);
  return address;
};

/** The URL a provider calls back for a request, the same for all its accounts. It ends in a token that only this deployment can make. */
export const callbackUrl = async (provider: ProviderId, requestId: string): Promise<string> => {
  const maker = makerOf(provider);
  const token = tokenUnder(await readSecret(secretArn()), maker, requestId);
  return (
    requiredEnv('PUBLIC_BASE_URL') + routePath('receive-callback', { provider: maker, requestId, token })
  );
};

/**
 * Whether a token belongs to the callback URL of a request at a provider, under the current secret or, for a day after a
 * rotation, under the previous secret. Compares in constant time. Throws `SecretUnreadableError`.
 */
export const isCallbackToken = async (
  token: string,
  provider: string,
  requestId: string,
  now: Date,
): Promise<boolean> => {
  const isUnder = (secret: string): boolean => {
    const [given, expected] = [Buffer.from(token), Buffer.from(tokenUnder(secret, provider, requestId))];
    return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
  };
  // The cached secret first: a call with its token costs no further read.
  return isUnder(await readSecret(secretArn())) || (await acceptedTexts(secretArn(), now)).some(isUnder);
};

const secretArn = (): string => requiredEnv('CALLBACK_SECRET_ARN');

/** HMAC-SHA256 of the provider and the request id under a secret of the deployment, in hex. */
const tokenUnder = (secret: string, provider: string, requestId: string): string =>
  createHmac('sha256', secret).update(`${provider}\n${requestId}`).digest('hex');
