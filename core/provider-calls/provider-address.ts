import { requiredEnv } from '../environment.ts';
import { namesOfProvider, type ProviderId } from '../provider-names.ts';

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
  const today = requiredEnv(baseUrlVariable);
  const address = [today, process.env[previousBaseUrlVariable]].find((one) => one === (calledAt ?? today));
  if (address === undefined)
    throw new UnknownAddressError(`${calledAt} is no configured address of ${provider}.`);
  return address;
};
