import { getSecret } from '@aws-lambda-powertools/parameters/secrets';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type EnvironmentName, requiredEnv } from '../environment.ts';
import { PROVIDER_IDS, type ProviderId } from './providers.ts';

/** How long a secret is used before it is read again: a changed one takes effect within 5 min. */
const SECRET_MAX_AGE_SECONDS = 300;

/** Which variables hold a provider's base URL and the ARN of the secret with its API key. */
export const PROVIDER_ENVIRONMENT: Record<
  ProviderId,
  { baseUrl: EnvironmentName; secretArn: EnvironmentName }
> = {
  modelark: { baseUrl: 'MODELARK_BASE_URL', secretArn: 'MODELARK_SECRET_ARN' },
  modelstudio: { baseUrl: 'MODELSTUDIO_BASE_URL', secretArn: 'MODELSTUDIO_SECRET_ARN' },
};

/** A secret's text, cached for 5 min. Throws when the secret has none. */
export const readSecret = async (arn: string): Promise<string> => {
  const value = await getSecret(arn, { maxAge: SECRET_MAX_AGE_SECONDS });
  if (value === undefined) throw new Error(`Secret ${arn} has no value.`);
  return String(value);
};

const secretsManager = new SecretsManagerClient({ maxAttempts: 3 });
let known: { credentials: ReadonlySet<ProviderId>; readAtMs: number } | undefined;

/**
 * The providers whose secret holds a key, cached for 5 min. The secrets are described, never read: a
 * function that only needs to know that a key is there cannot learn it.
 */
export const listCredentials = async (now: Date): Promise<ReadonlySet<ProviderId>> => {
  if (known && now.getTime() - known.readAtMs < SECRET_MAX_AGE_SECONDS * 1000) return known.credentials;
  const found = await Promise.all(
    PROVIDER_IDS.map(async (provider) => {
      const SecretId = requiredEnv(PROVIDER_ENVIRONMENT[provider].secretArn);
      const secret = await secretsManager.send(new DescribeSecretCommand({ SecretId }));
      return Object.keys(secret.VersionIdsToStages ?? {}).length > 0 ? [provider] : [];
    }),
  );
  known = { credentials: new Set(found.flat()), readAtMs: now.getTime() };
  return known.credentials;
};
