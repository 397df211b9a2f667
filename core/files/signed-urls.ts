import { getSignedUrl } from '@aws-sdk/cloudfront-signer';
import { requiredEnv } from '../environment.ts';
import { readSecret } from '../provider-calls/credentials.ts';
import { type Instant, toEpochSeconds } from '../time.ts';

/** Returns a URL of a stored file that stops working at `expiresAt`. */
export type SignUrl = (objectKey: string, expiresAt: Instant) => string;

/**
 * A signer of file delivery URLs. A URL stops working at `expiresAt`, rounded down to the second. CloudFront
 * checks the signature against the distribution's trusted key group (ECDSA P-256, SHA-256).
 */
export const loadUrlSigner = async (): Promise<SignUrl> => {
  const privateKey = await readSecret(requiredEnv('FILE_DELIVERY_KEY_SECRET_ARN'));
  const keyPairId = requiredEnv('FILE_DELIVERY_KEY_PAIR_ID');
  const baseUrl = requiredEnv('FILE_DELIVERY_BASE_URL');
  return (objectKey, expiresAt) =>
    getSignedUrl({
      url: `${baseUrl}/${objectKey}`,
      keyPairId,
      privateKey,
      dateLessThan: new Date(toEpochSeconds(expiresAt) * 1000),
      algorithm: 'SHA256',
    });
};
