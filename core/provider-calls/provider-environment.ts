import { type EnvironmentName, requiredEnv } from '../environment.ts';
import type { ProviderId } from './providers.ts';

/** The variables with each provider's base URL, the one it had before, and the ARN of its API key's secret. */
export const PROVIDER_ENVIRONMENT: Record<
  ProviderId,
  { baseUrl: EnvironmentName; previousBaseUrl: EnvironmentName; secretArn: EnvironmentName }
> = {
  modelark: {
    baseUrl: 'MODELARK_BASE_URL',
    previousBaseUrl: 'MODELARK_PREVIOUS_BASE_URL',
    secretArn: 'MODELARK_SECRET_ARN',
  },
  modelstudio: {
    baseUrl: 'MODELSTUDIO_BASE_URL',
    previousBaseUrl: 'MODELSTUDIO_PREVIOUS_BASE_URL',
    secretArn: 'MODELSTUDIO_SECRET_ARN',
  },
};

/** A call was made at an address that is not configured. Repeating helps once a deployment declares it as the previous one. */
export class UnknownAddressError extends Error {
  override name = 'UnknownAddressError';
}

/**
 * A provider's address: today's or, for a call made at the declared previous one, that. Throws `UnknownAddressError` for any other `calledAt`. Many roles write
 * the table it comes from, and the provider's key is sent there.
 */
export const providerAddress = (provider: ProviderId, calledAt?: string): string => {
  const { baseUrl, previousBaseUrl } = PROVIDER_ENVIRONMENT[provider];
  const today = requiredEnv(baseUrl);
  const address = [today, process.env[previousBaseUrl]].find((one) => one === (calledAt ?? today));
  if (address === undefined)
    throw new UnknownAddressError(`${calledAt} is no configured address of ${provider}.`);
  return address;
};
