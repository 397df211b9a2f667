import { createPrivateKey, sign } from 'node:crypto';
import { requiredEnv } from '../environment.ts';
import { remembersLast } from '../parsed-texts.ts';
import { readSecret } from '../provider-calls/credentials.ts';
import { type Instant, toEpochSeconds } from '../time.ts';

/** Returns a URL of a stored file that stops working at `expiresAt`. */
export type SignUrl = (objectKey: string, expiresAt: Instant) => string;

/** How many signatures a function remembers: some 0.5 MB. */
export const KEPT_SIGNATURES = 2_000;

/** A signing key, parsed once because that takes longer than signing, and what it signed, the least recently used first. */
const signingWith = remembersLast((text) => ({
  key: createPrivateKey(text),
  signatures: new Map<string, string>(),
}));

/** CloudFront's base64 for URLs. */
const urlText = (bytes: Buffer): string =>
  bytes.toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');

/**
 * A signer of file delivery URLs. A URL stops working at `expiresAt`, rounded down to the second. CloudFront
 * checks the signature against the distribution's trusted key group (ECDSA P-256, SHA-256).
 *
 * A URL carries the signature of a [canned policy](https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html),
 * which says the file and the end and nothing else. So the same file with the same end is given the signature that it was given
 * before: it allows what a new one would. A changed key signs all anew. The SDK's signer makes the same URLs and parses the key
 * for each, which takes twice as long as signing.
 */
export const loadUrlSigner = async (): Promise<SignUrl> => {
  const { key, signatures } = signingWith(await readSecret(requiredEnv('FILE_DELIVERY_KEY_SECRET_ARN')));
  const keyPairId = requiredEnv('FILE_DELIVERY_KEY_PAIR_ID');
  const baseUrl = requiredEnv('FILE_DELIVERY_BASE_URL');
  const newSignature = (url: string, expires: number): string => {
    const policy = { Resource: url, Condition: { DateLessThan: { 'AWS:EpochTime': expires } } };
    return urlText(sign('sha256', Buffer.from(JSON.stringify({ Statement: [policy] })), key));
  };
  return (objectKey, expiresAt) => {
    const url = `${baseUrl}/${objectKey}`;
    const expires = toEpochSeconds(expiresAt);
    const unsigned = `${url}?Expires=${expires}&Key-Pair-Id=${keyPairId}`;
    const signature = signatures.get(unsigned) ?? newSignature(url, expires);
    remember(signatures, unsigned, signature);
    return `${unsigned}&Signature=${signature}&Hash-Algorithm=SHA256`;
  };
};

const remember = (signatures: Map<string, string>, unsigned: string, signature: string): void => {
  signatures.delete(unsigned);
  signatures.set(unsigned, signature);
  if (signatures.size <= KEPT_SIGNATURES) return;
  const [oldest = ''] = signatures.keys();
  signatures.delete(oldest);
};
