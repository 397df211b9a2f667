import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** The customer that the sandbox's webhooks name. */
const USER_ID = 'sandbox-user';

/** Signs webhooks as fal does. */
export type FalSigning = {
  /** The published keys, as a JSON Web Key Set. */
  keys: unknown;
  /** The headers of a webhook, given its body. With `isForged`, its signature is by a key that is not published. */
  headersOf(requestId: string, body: string, isForged: boolean): Record<string, string>;
};

/** Creates a signing key. `now` returns epoch milliseconds. */
export const createFalSigning = (now: () => number): FalSigning => {
  const own = generateKeyPairSync('ed25519');
  const foreign = generateKeyPairSync('ed25519');
  const signature = (key: KeyObject, lines: string[]) =>
    sign(null, Buffer.from(lines.join('\n')), key).toString('hex');
  return {
    keys: { keys: [{ ...own.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'EdDSA' }] },
    headersOf(requestId, body, isForged) {
      const time = String(Math.floor(now() / 1000));
      const hash = createHash('sha256').update(body).digest('hex');
      const { privateKey } = isForged ? foreign : own;
      return {
        'X-Fal-Webhook-Request-Id': requestId,
        'X-Fal-Webhook-User-Id': USER_ID,
        'X-Fal-Webhook-Timestamp': time,
        'X-Fal-Webhook-Signature': signature(privateKey, [requestId, USER_ID, time, hash]),
      };
    },
  };
};
