import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { clientOptions } from '../../core/aws-clients.ts';
import { requiredEnv } from '../../core/environment.ts';
import { logger } from '../../core/observability.ts';

/** Attempts to answer CloudFormation, and the time limit of each. Without an answer it waits for an hour. */
const ANSWER_ATTEMPTS = 3;
const ANSWER_TIMEOUT_MS = 5_000;

const secretsManager = new SecretsManagerClient(clientOptions('secrets'));

/** The stored private key; undefined when the secret has no value yet. */
const findPrivateKey = async (SecretId: string): Promise<string | undefined> => {
  try {
    return (await secretsManager.send(new GetSecretValueCommand({ SecretId }))).SecretString;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
};

/** Creates an ECDSA P-256 key pair (the curve CloudFront accepts) and stores its private half in the secret. */
const createPrivateKeyIn = async (SecretId: string): Promise<string> => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const SecretString = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await secretsManager.send(new PutSecretValueCommand({ SecretId, SecretString }));
  return SecretString;
};

const publicKeyOf = (privateKeyPem: string): string =>
  createPublicKey(createPrivateKey(privateKeyPem)).export({ type: 'spki', format: 'pem' }).toString();

/** Answers CloudFormation. Throws when no attempt got through; Lambda then runs the function again. */
const answer = async (url: string, body: Record<string, unknown>): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await fetch(url, {
        method: 'PUT',
        // CloudFormation signs the URL without a content type.
        headers: { 'content-type': '' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      return;
    } catch (error) {
      if (attempt === ANSWER_ATTEMPTS) throw error;
    }
  }
};

/**
 * Custom resource for the key pair that signs file URLs. Create and update return the public key. The pair is
 * created once, so that a later deployment leaves signed URLs valid. Delete does nothing: the secret goes with
 * the stack.
 */
export const handler = async (event: CloudFormationCustomResourceEvent, context: Context): Promise<void> => {
  await answer(event.ResponseURL, {
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
    PhysicalResourceId: 'delivery-key-pair',
    ...(await outcomeOf(event, context)),
  });
};

const outcomeOf = async (
  { RequestType }: CloudFormationCustomResourceEvent,
  { logStreamName }: Context,
): Promise<Record<string, unknown>> => {
  if (RequestType === 'Delete') return { Status: 'SUCCESS', Data: {} };
  try {
    const secretArn = requiredEnv('FILE_DELIVERY_KEY_SECRET_ARN');
    const privateKey = (await findPrivateKey(secretArn)) ?? (await createPrivateKeyIn(secretArn));
    return { Status: 'SUCCESS', Data: { PublicKey: publicKeyOf(privateKey) } };
  } catch (error) {
    logger.error('the delivery key pair could not be made', { error: error as Error });
    return { Status: 'FAILED', Reason: `See the logs: ${logStreamName}` };
  }
};
