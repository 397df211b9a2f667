import { DEFAULT_PROVIDERS } from '@aws-lambda-powertools/parameters/base';
import { getSecret, SecretsProvider } from '@aws-lambda-powertools/parameters/secrets';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { clientOptions } from './aws-clients.ts';
import { cachedFor } from './cached.ts';
import { SECONDS_PER_DAY } from './time.ts';

/** Time for which a secret is cached. A changed secret takes effect within 5 min. */
export const SECRET_MAX_AGE_SECONDS = 300;

const secretsManager = new SecretsManagerClient(clientOptions('secrets'));
// `getSecret` would make a client without limits.
DEFAULT_PROVIDERS.secrets = new SecretsProvider({ awsSdkV3Client: secretsManager });

/** A secret could not be read. `cause` is the error of Secrets Manager, and says whether repeating helps. */
export class SecretUnreadableError extends Error {
  override name = 'SecretUnreadableError';
}

/** Whether a secret could not be read because it has no value. */
export const isSecretEmpty = (error: unknown): boolean =>
  error instanceof SecretUnreadableError &&
  (!(error.cause instanceof Error) || error.cause.name === 'ResourceNotFoundException');

const unreadable = (arn: string, cause: Error): SecretUnreadableError =>
  new SecretUnreadableError(`Secret ${arn} could not be read: ${cause.name}: ${cause.message}`, { cause });

/** A secret's text, cached for 5 min. Throws `SecretUnreadableError`, also when the secret has no value. */
export const readSecret = async (arn: string): Promise<string> => {
  const value = await getSecret(arn, { maxAge: SECRET_MAX_AGE_SECONDS }).catch((error: Error) => {
    // Powertools wraps every error in one of its own, which hides the name.
    throw unreadable(arn, error.cause instanceof Error ? error.cause : error);
  });
  if (value === undefined) throw new SecretUnreadableError(`Secret ${arn} has no value.`);
  return String(value);
};

/** Time for which the versions of a secret are cached. */
const VERSIONS_MAX_AGE_SECONDS = 60;
/** Time after a rotation in which the previous text is accepted. */
const PREVIOUS_SECONDS = SECONDS_PER_DAY;

/**
 * The current and the previous version of a secret, each with its text and the time of its creation; a new secret has no previous
 * version.
 */
type Versions = [current: Version, previous: Version | undefined];
interface Version {
  text: string;
  createdAtMs: number;
}

/** The readers by the secret's ARN. */
const versionReaders = new Map<string, (now: Date) => Promise<Versions>>();

/**
 * The texts that a secret accepts: the current one and, for a day after it took effect, the one before. At most a minute old, while
 * `readSecret` may be five. Two reads, so only for a text that `readSecret`'s does not match. Throws `SecretUnreadableError`.
 */
export const acceptedTexts = async (arn: string, now: Date): Promise<string[]> => {
  const read = versionReaders.get(arn) ?? cachedFor(VERSIONS_MAX_AGE_SECONDS, () => readVersions(arn));
  versionReaders.set(arn, read);
  const [current, previous] = await read(now);
  const isRecent = now.getTime() < current.createdAtMs + PREVIOUS_SECONDS * 1000;
  return previous && isRecent ? [current.text, previous.text] : [current.text];
};

const readVersions = async (arn: string): Promise<Versions> => {
  const [current, previous] = await Promise.all([
    readVersion(arn, 'AWSCURRENT'),
    readVersion(arn, 'AWSPREVIOUS'),
  ]);
  if (!current) throw new SecretUnreadableError(`Secret ${arn} has no value.`);
  return [current, previous];
};

/** A version of a secret by its stage; undefined when no version has the stage, as before the first rotation. */
const readVersion = async (
  arn: string,
  VersionStage: 'AWSCURRENT' | 'AWSPREVIOUS',
): Promise<Version | undefined> => {
  try {
    const found = await secretsManager.send(new GetSecretValueCommand({ SecretId: arn, VersionStage }));
    return { text: found.SecretString ?? '', createdAtMs: found.CreatedDate?.getTime() ?? 0 };
  } catch (error) {
    const cause = error as Error;
    if (cause.name === 'ResourceNotFoundException') return undefined;
    throw unreadable(arn, cause);
  }
};

/** Whether a secret has a value. Describes the secret instead of reading the value, and so needs no permission to read. */
export const isSecretSet = async (arn: string): Promise<boolean> => {
  const { VersionIdsToStages = {} } = await secretsManager.send(new DescribeSecretCommand({ SecretId: arn }));
  return Object.keys(VersionIdsToStages).length > 0;
};
