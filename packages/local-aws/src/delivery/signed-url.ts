import { type KeyObject, verify } from 'node:crypto';

/** `valid`, or CloudFront's code for why a signed URL does not open the file. */
export type SignatureVerdict = 'valid' | 'MissingKey' | 'InvalidKey' | 'AccessDenied';

const SIGNING_PARAMETERS = ['Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm', 'Policy'];

/**
 * The bytes of a signature; undefined when the text is not their canonical encoding. The alphabet is base64 with `+ = /` replaced:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html
 */
const decodeSignature = (text: string): Buffer | undefined => {
  const base64 = text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/');
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : undefined;
};

/** The URL without the signing parameters, otherwise as the client sent it. */
const withoutSigningParameters = (base: string, query: string): string => {
  const kept = query
    .split('&')
    .filter((pair) => pair !== '' && !SIGNING_PARAMETERS.includes(pair.split('=', 1)[0] ?? ''));
  return kept.length > 0 ? `${base}?${kept.join('&')}` : base;
};

/**
 * Checks a URL with a canned policy, as CloudFront does: the trusted key that the URL names must have signed exactly this URL and expiry
 * (RSA or ECDSA), and `now` must be before the expiry. Custom policies are refused.
 */
export const checkSignedUrl = (
  url: string,
  trustedKeys: ReadonlyMap<string, KeyObject>,
  now: Date,
): SignatureVerdict => {
  const [base = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const keyPairId = parameters.get('Key-Pair-Id');
  if (!keyPairId) return 'MissingKey';
  const publicKey = trustedKeys.get(keyPairId);
  if (!publicKey) return 'InvalidKey';

  const expires = parameters.get('Expires') ?? '';
  const signature = decodeSignature(parameters.get('Signature') ?? '');
  if (!signature || !/^\d{1,12}$/.test(expires)) return 'AccessDenied';
  if (Number(expires) * 1000 <= now.getTime()) return 'AccessDenied';

  const resource = withoutSigningParameters(base, query);
  const policy = `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`;
  const hash = parameters.get('Hash-Algorithm') === 'SHA256' ? 'sha256' : 'sha1';
  return verify(hash, Buffer.from(policy), publicKey, signature) ? 'valid' : 'AccessDenied';
};
