import { WebhookVerificationError } from './errors.ts';
import type { WebhookEvent } from './types.ts';

/** The headers of a webhook: a `Headers`, or an object as Node and Lambda have it. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A webhook whose signature is right. */
export interface VerifiedWebhook {
  /** The same in every attempt: skip one that you have seen. */
  id: string;
  event: WebhookEvent;
}

const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = 'whsec_';

/**
 * The event of a webhook. `body` is the raw text or bytes, before anything parses it; `secrets` is one secret, or several
 * while it is rotated. Throws `WebhookVerificationError`: answer 401. Throws `TypeError` for a body that was parsed.
 */
export const verifyWebhook = async (
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  now: Date = new Date(),
): Promise<VerifiedWebhook> => {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('The raw body is needed, not a parsed one.');
  }
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  const ageSeconds = now.getTime() / 1000 - Number(timestamp);
  // Written so that a timestamp that is no number is refused.
  if (!(Math.abs(ageSeconds) <= TOLERANCE_SECONDS)) {
    throw new WebhookVerificationError('The webhook is too old, or a clock is wrong.');
  }
  // Every byte counts, a byte order mark too; bytes that are no UTF-8 were not signed.
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const secret of [secrets].flat()) {
    if (await isSignedBy(secret, signatures, signed)) return { id, event: JSON.parse(text) as WebhookEvent };
  }
  throw new WebhookVerificationError('No signature matches.');
};

const headerOf = (headers: WebhookHeaders, name: string): string => {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || !value) throw new WebhookVerificationError(`There is no ${name}.`);
  return value;
};

/** Bytes of base64; undefined for other text. */
const decoded = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    // A signature of another scheme.
    return undefined;
  }
};

const isSignedBy = async (
  secret: string,
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  const raw = secret.startsWith(SECRET_PREFIX) ? decoded(secret.slice(SECRET_PREFIX.length)) : undefined;
  if (!raw?.length) throw new TypeError(`A webhook secret begins with ${SECRET_PREFIX}.`);
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  for (const signature of signatures.split(' ')) {
    const [version, value = ''] = signature.split(',');
    const bytes = version === 'v1' ? decoded(value) : undefined;
    // Compares in constant time.
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return true;
  }
  return false;
};
