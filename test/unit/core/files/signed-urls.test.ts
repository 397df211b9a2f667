import { type KeyObject, verify } from 'node:crypto';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KEPT_SIGNATURES, loadUrlSigner, type SignUrl } from '../../../../core/files/signed-urls.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aSigningKey } from '../../builders/signing-key.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';

const secrets = new MemorySecrets();
const KEY_ARN = 'arn:delivery-key';
const OBJECT_KEY = 'outputs/img_2/0.png';
let publicKey: KeyObject;
let signUrl: SignUrl;
beforeEach(async () => {
  clearCaches();
  secrets.reset();
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

describe('a repeated signature', () => {
  const EXPIRES_AT = '2026-11-21T08:00:00.000Z';
  const signed = (objectKey = OBJECT_KEY): string => signUrl(objectKey, EXPIRES_AT);

  test('is the one that was made for the same file and the same end', async () => {
    const first = signed();

    expect(signed()).toBe(first);
    expect((await loadUrlSigner())(OBJECT_KEY, EXPIRES_AT)).toBe(first);
  });

  test.each<[string, () => string]>([
    ['another file', () => signed('outputs/img_2/1.png')],
    ['an earlier end', () => signUrl(OBJECT_KEY, '2026-11-21T07:59:59.000Z')],
    ['a later end', () => signUrl(OBJECT_KEY, '2026-11-21T08:00:01.000Z')],
  ])('is never that of %s, before or after', (_, signOther) => {
    const signatureOf = (url: string): string | null => new URL(url).searchParams.get('Signature');
    const [before, first] = [signOther(), signed()];

    expect(new Set([before, first].map(signatureOf)).size).toBe(2);
    expect([signOther(), signed()]).toEqual([before, first]);
    expect([before, first].every((url) => isSigned(url))).toBe(true);
  });

  test('is of the key in use: after a rotation no URL of the one before is given out', async () => {
    const before = signed();
    const rotated = aSigningKey();
    clearCaches();
    secrets.set(KEY_ARN, rotated.privateKeyPem);
    const after = (await loadUrlSigner())(OBJECT_KEY, EXPIRES_AT);

    expect(isSigned(before, rotated.publicKey)).toBe(false);
    expect(isSigned(after, rotated.publicKey)).toBe(true);
  });

  test.each([
    ['FILE_DELIVERY_KEY_PAIR_ID', 'K2OTHER'],
    ['FILE_DELIVERY_BASE_URL', 'https://other.example.com'],
  ])('is not that of another %s', async (name, value) => {
    const before = signed();
    const other = await withEnvironment({ [name]: value }, loadUrlSigner);

    expect(other(OBJECT_KEY, EXPIRES_AT)).not.toBe(before);
    expect(isSigned(other(OBJECT_KEY, EXPIRES_AT))).toBe(true);
  });

  test('is forgotten when as many others were used since as a function keeps, and not before', () => {
    const [used, unused] = [signed('outputs/used.png'), signed('outputs/unused.png')];
    for (let other = 2; other < KEPT_SIGNATURES; other++) signed(`outputs/${other}.png`);
    const kept = signed('outputs/used.png');
    signed('outputs/0.png');

    expect(kept).toBe(used);
    expect(signed('outputs/used.png')).toBe(used);
    expect(signed('outputs/unused.png')).not.toBe(unused);
  });
});
