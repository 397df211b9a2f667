import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { clientOptions } from '../../core/aws-clients.ts';
import { customResource } from '../cloudformation.ts';

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

/**
 * Creates an ECDSA P-256 key pair (the curve CloudFront accepts) and stores its private half in the secret. Lambda may run an
 * event twice at once. The version has the event's name, so a second pair is not stored, and each run returns the stored pair.
 */
const createPrivateKeyIn = async (SecretId: string, ClientRequestToken: string): Promise<string> => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const SecretString = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  try {
    await secretsManager.send(new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken }));
    return SecretString;
  } catch (error) {
    const other =
      error instanceof Error && error.name === 'ResourceExistsException' && (await findPrivateKey(SecretId));
    if (!other) throw error;
    return other;
  }
};

const publicKeyOf = (privateKeyPem: string): string =>
  createPublicKey(createPrivateKey(privateKeyPem)).export({ type: 'spki', format: 'pem' }).toString();

/** The secret that takes the private key. */
const Properties = z.object({ SecretArn: z.string().check(z.minLength(1)) });

/**
 * Custom resource for a key pair that signs file URLs. Create and update return the public key. The pair of a secret is
 * created once, so that a later deployment leaves signed URLs valid. Delete does nothing: the secret goes with the
 * stack.
 */
export const handler = customResource(async (event) => {
  if (event.RequestType === 'Delete') return { physicalId: event.PhysicalResourceId };
  const { SecretArn } = Properties.parse(event.ResourceProperties);
  const privateKey =
    (await findPrivateKey(SecretArn)) ?? (await createPrivateKeyIn(SecretArn, event.RequestId));
  return { physicalId: SecretArn, data: { PublicKey: publicKeyOf(privateKey) } };
});
