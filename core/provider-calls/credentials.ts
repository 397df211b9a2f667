import { cachedFor } from '../cached.ts';
import { requiredEnv } from '../environment.ts';
import { namesOfProvider, PROVIDER_IDS, type ProviderId } from '../provider-names.ts';
import { isSecretSet, SECRET_MAX_AGE_SECONDS } from '../secrets.ts';
import { accountsInRoutes } from './model-routes.ts';

/**
 * The accounts at providers whose secret has a value, cached for 5 min. The functions that list
 * them need no permission to read a key.
 */
export const listCredentials = cachedFor(
  SECRET_MAX_AGE_SECONDS,
  async (): Promise<ReadonlySet<ProviderId>> => {
    const accounts = [...new Set([...PROVIDER_IDS, ...accountsInRoutes()])];
    const isSet = await Promise.all(
      accounts.map((provider) => isSecretSet(requiredEnv(namesOfProvider(provider).secretVariable))),
    );
    return new Set(accounts.filter((_, index) => isSet[index]));
  },
);
