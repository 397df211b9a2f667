import { randomUUID } from 'node:crypto';

import type { SecretSpec } from '../../types.ts';
import type { Place } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { AwsError } from '../errors.ts';
import type { SecretStore } from './secret-store.ts';

type Json = Record<string, unknown>;

const optionalText = (body: Json, field: string): string | undefined => {
  const value = body[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const secretId = (body: Json): string => {
  const id = optionalText(body, 'SecretId');
  if (id === undefined) throw new AwsError('InvalidParameterException', 'You must provide a SecretId.');
  return id;
};

const epochSeconds = (instant: string): number => Date.parse(instant) / 1_000;

const getSecretValue = (store: SecretStore, secret: SecretSpec, body: Json) => {
  const versions = Object.entries(store.versions(secret));
  const wantedId = optionalText(body, 'VersionId');
  const wantedStage = optionalText(body, 'VersionStage') ?? (wantedId ? undefined : 'AWSCURRENT');
  const found = versions.find(
    ([id, { stages }]) =>
      (wantedId === undefined || id === wantedId) &&
      (wantedStage === undefined || stages.includes(wantedStage)),
  );
  if (!found) {
    const asked = wantedId ? `VersionId: ${wantedId}` : `staging label: ${wantedStage}`;
    throw new AwsError(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for ${asked}`,
    );
  }
  const [id, version] = found;
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: id,
    SecretString: version.text,
    VersionStages: version.stages,
    CreatedDate: epochSeconds(version.createdAt),
  };
};

const putSecretValue = (store: SecretStore, secret: SecretSpec, body: Json) => {
  if (typeof body.SecretString !== 'string') {
    throw new AwsError(
      'InvalidRequestException',
      'You must provide SecretString; the local run knows no SecretBinary.',
    );
  }
  const id = optionalText(body, 'ClientRequestToken') ?? randomUUID();
  const stages = Array.isArray(body.VersionStages) ? body.VersionStages.map(String) : ['AWSCURRENT'];
  store.put(secret, id, body.SecretString, stages);
  return { ARN: secret.arn, Name: secret.name, VersionId: id, VersionStages: stages };
};

const describeSecret = (store: SecretStore, secret: SecretSpec) => {
  const versions = Object.entries(store.versions(secret));
  const changes = versions.map(([, { createdAt }]) => epochSeconds(createdAt));
  return {
    ARN: secret.arn,
    Name: secret.name,
    ...(versions.length > 0 && {
      LastChangedDate: Math.max(...changes),
      VersionIdsToStages: Object.fromEntries(versions.map(([id, { stages }]) => [id, stages])),
    }),
  };
};

/** A Secrets Manager call needs its action on the secret's ARN. */
export const secretPermissions = (
  place: Place,
  store: SecretStore,
  operation: string,
  body: Json,
): Permission[] => {
  const id = secretId(body);
  const arn =
    store.find(id)?.arn ??
    (id.startsWith('arn:') ? id : `arn:aws:secretsmanager:${place.region}:${place.accountId}:secret:${id}`);
  return [{ action: `secretsmanager:${operation}`, resource: arn }];
};

/** Answers one Secrets Manager call. Throws `AwsError` as the service answers it. */
export const callSecretsManager = (store: SecretStore, operation: string, body: Json): Json => {
  const calls: Record<string, (secret: SecretSpec) => Json> = {
    GetSecretValue: (secret) => getSecretValue(store, secret, body),
    PutSecretValue: (secret) => putSecretValue(store, secret, body),
    DescribeSecret: (secret) => describeSecret(store, secret),
  };
  const call = calls[operation];
  if (!call) {
    throw new AwsError('UnknownOperationException', `The local Secrets Manager has no ${operation}`);
  }
  const secret = store.find(secretId(body));
  if (!secret) {
    throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  }
  return call(secret);
};
