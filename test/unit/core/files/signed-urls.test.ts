import { type KeyObject, verify } from 'node:crypto';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loadUrlSigner, type SignUrl } from '../../../../core/files/signed-urls.ts';
import { aSigningKey } from '../../builders/signing-key.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';

const KEY_ARN = 'arn:delivery-key';
const OBJECT_KEY = 'outputs/img_2/0.png';
let publicKey: KeyObject;
let signUrl: SignUrl;
beforeEach(async () => {
  clearCaches();
  const key = aSigningKey();
  publicKey = key.publicKey;
  secrets.set(KEY_ARN, key.privateKeyPem);
  signUrl = await loadUrlSigner();
});

/** CloudFront's base64 for URLs, back to bytes. */
const bytesOf = (text: string): Buffer =>
  Buffer.from(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64');

/** What CloudFront does with a signed URL: the canned policy of its resource and expiry, against the signature. */
const isSigned = (signed: string, key: KeyObject = publicKey): boolean => {
  const url = new URL(signed);
  const policy = JSON.stringify({
    Statement: [
      {
        Resource: `${url.origin}${url.pathname}`,
        Condition: { DateLessThan: { 'AWS:EpochTime': Number(url.searchParams.get('Expires')) } },
      },
    ],
  });
  return verify('sha256', Buffer.from(policy), key, bytesOf(url.searchParams.get('Signature') ?? ''));
};
const changed = (signed: string, change: (url: URL) => void): string => {
  const url = new URL(signed);
  change(url);
  return url.toString();
};

describe('a delivery URL', () => {
  test('names the file, when it stops working, the key pair and the hash, and nothing else', () => {
    const url = new URL(signUrl(OBJECT_KEY, '2026-11-21T08:00:00.000Z'));

    expect(url.origin + url.pathname).toBe(`https://files.example.com/${OBJECT_KEY}`);
    expect([...url.searchParams.keys()].sort()).toEqual([
      'Expires',
      'Hash-Algorithm',
      'Key-Pair-Id',
      'Signature',
    ]);
    expect(url.searchParams.get('Key-Pair-Id')).toBe('K2EXAMPLE');
    expect(url.searchParams.get('Hash-Algorithm')).toBe('SHA256');
    expect(url.searchParams.get('Expires')).toBe(String(Date.UTC(2026, 10, 21, 8) / 1000));
  });

  test('carries a signature that the public key verifies over the canned policy', () => {
    expect(isSigned(signUrl(OBJECT_KEY, '2026-11-21T08:00:00.000Z'))).toBe(true);
  });

  test('stops working at its expiry rounded down to the second, never later', () => {
    const instant = fc.date({
      min: new Date('2026-01-01'),
      max: new Date('2040-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, (expiresAt) => {
        const signed = signUrl(OBJECT_KEY, expiresAt.toISOString());
        const expires = Number(new URL(signed).searchParams.get('Expires')) * 1000;

        expect(expires).toBeLessThanOrEqual(expiresAt.getTime());
        expect(expires).toBeGreaterThan(expiresAt.getTime() - 1000);
        expect(isSigned(signed)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test.each<[string, (url: URL) => void]>([
    ['for another file', (url) => (url.pathname = '/outputs/img_2/1.png')],
    ["for another request's file", (url) => (url.pathname = '/outputs/img_9/0.png')],
    ['for another host', (url) => (url.host = 'other.example.com')],
    ['for longer', (url) => url.searchParams.set('Expires', '4102444800')],
    ['with another signature', (url) => url.searchParams.set('Signature', 'AAAA')],
  ])('cannot be used %s', (_, change) => {
    expect(isSigned(changed(signUrl(OBJECT_KEY, '2026-11-21T08:00:00.000Z'), change))).toBe(false);
  });

  test('is not verified by the key of another deployment', () => {
    expect(isSigned(signUrl(OBJECT_KEY, '2026-11-21T08:00:00.000Z'), aSigningKey().publicKey)).toBe(false);
  });

  test('needs one read of the secret, however many are signed', async () => {
    await loadUrlSigner();
    await loadUrlSigner();

    expect(secrets.reads()).toEqual({ [`GetSecretValue ${KEY_ARN}`]: 1 });
  });
});

test('a URL is signed anew on every read, and with the key in use', async () => {
  const sign = (signer: SignUrl): string => signer(OBJECT_KEY, '2026-11-21T08:00:00.000Z');
  const [first, second] = [sign(signUrl), sign(signUrl)];
  const rotated = aSigningKey();
  clearCaches();
  secrets.set(KEY_ARN, rotated.privateKeyPem);

  expect(second).not.toBe(first);
  expect(isSigned(sign(await loadUrlSigner()), rotated.publicKey)).toBe(true);
});
