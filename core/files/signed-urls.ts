import { createPrivateKey, sign } from 'node:crypto';
import { remembersLast } from '../cached.ts';
import { requiredEnv } from '../environment.ts';
import { readSecret } from '../secrets.ts';
import { type Instant, toEpochSeconds } from '../time.ts';

/** Returns a URL of a stored file that stops working at `expiresAt`. */
export type SignUrl = (objectKey: string, expiresAt: Instant) => string;

/** Parsed once, because that takes longer than signing. */
const parseSigningKey = remembersLast((text) => createPrivateKey(text));

/** CloudFront's base64 for URLs. */
const urlText = (bytes: Buffer): string =>
  bytes.toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');

/**
 * A signer of file delivery URLs. A URL stops working at `expiresAt`, rounded down to the second. CloudFront
 * checks the signature against the distribution's trusted key group (ECDSA P-256, SHA-256).
 *
 * A URL carries the signature of a [canned
 * policy](https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html).
 * The SDK's signer makes the same URLs, but parses the key for every URL, which takes twice as long as signing.
 */
export const loadUrlSigner = async (): Promise<SignUrl> => {
  const key = parseSigningKey(await readSecret(requiredEnv('FILE_DELIVERY_KEY_SECRET_ARN')));
  const keyPairId = requiredEnv('FILE_DELIVERY_KEY_PAIR_ID');
  const baseUrl = requiredEnv('FILE_DELIVERY_BASE_URL');
  return (objectKey, expiresAt) => {
    const url = `${baseUrl}/${objectKey}`;
    const expires = toEpochSeconds(expiresAt);
    const policy = { Resource: url, Condition: { DateLessThan: { 'AWS:EpochTime': expires } } };
    const signature = sign('sha256', Buffer.from(JSON.stringify({ Statement: [policy] })), key);
    return `${url}?Expires=${expires}&Key-Pair-Id=${keyPairId}&Signature=${urlText(signature)}&Hash-Algorithm=SHA256`;
  };
};
