import { DEFAULT_PROVIDERS } from '@aws-lambda-powertools/parameters/base';
import { getSecret, SecretsProvider } from '@aws-lambda-powertools/parameters/secrets';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientOptions } from './aws-clients.ts';

/** How long a secret is cached. A changed one takes effect within 5 min. */
export const SECRET_MAX_AGE_SECONDS = 300;

const secretsManager = new SecretsManagerClient(clientOptions('secrets'));
// `getSecret` would make a client without limits.
DEFAULT_PROVIDERS.secrets = new SecretsProvider({ awsSdkV3Client: secretsManager });

/** A secret could not be read. `cause` is the error of Secrets Manager, and says whether repeating helps. */
export class SecretUnreadableError extends Error {
  override name = 'SecretUnreadableError';
}

/** A secret's text, cached for 5 min. Throws `SecretUnreadableError`, also when the secret has no value. */
export const readSecret = async (arn: string): Promise<string> => {
  const value = await getSecretValue(arn);
  if (value === undefined) throw new SecretUnreadableError(`Secret ${arn} has no value.`);
  return String(value);
};

const getSecretValue = async (arn: string): Promise<string | Uint8Array | undefined> => {
  try {
    return await getSecret(arn, { maxAge: SECRET_MAX_AGE_SECONDS });
  } catch (error) {
    // Powertools wraps every error in one of its own, which hides the name.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
    throw new SecretUnreadableError(`Secret ${arn} could not be read: ${cause.name}: ${cause.message}`, {
      cause,
    });
  }
};

/** Whether a secret has a value. Describes the secret and does not read it, so it takes no permission to read it. */
export const isSecretSet = async (arn: string): Promise<boolean> => {
  const { VersionIdsToStages = {} } = await secretsManager.send(new DescribeSecretCommand({ SecretId: arn }));
  return Object.keys(VersionIdsToStages).length > 0;
};
