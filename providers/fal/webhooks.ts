import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { guardedRequest } from '../../core/guarded-http/guarded-http.ts';
import { logger } from '../../core/observability.ts';
import type { CallbackCheck, SentCallback } from '../../core/provider-calls/providers.ts';
import { parseJson, readBody, requiredText } from '../http.ts';

/** The address of fal's webhook keys; a stand-in publishes keys below its own address. */
const FAL_KEYS_URL = 'https://rest.fal.ai/.well-known/jwks.json';
const FAL_QUEUES = new Set(['queue.fal.run', 'queue.falrun.com']);
const KEYS_PATH = '/.well-known/jwks.json';

/** A signature is good for so long before and after its time. */
const TOLERANCE_SECONDS = 300;
/** Keys may be kept for a day. */
const KEYS_KEPT_MS = 24 * 3600 * 1000;
/** Shortest time between two reads of the keys. A signature by an unknown key causes a read, because the key may be new. */
const KEYS_RENEWED_MS = 60 * 1000;
const MAX_KEYS_BYTES = 64 * 1024;

const Jwks = z.object({ keys: z.array(z.unknown()) });
const Ed25519Key = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: requiredText() });
const Body = z.object({ request_id: requiredText() });

/** The keys of one address as they were read, and when. */
interface KnownKeys {
  keys: readonly KeyObject[];
  readMs: number;
}
const known = new Map<string, KnownKeys>();

/**
 * Whether fal signed a callback: an Ed25519 signature of its request's id, the customer's id, the time and the body's hash, by one of the
 * published keys. The keys serve all customers of fal, so a signature alone does not make a callback ours: the token in its URL does.
 * `unknown` when the keys cannot be read.
 */
export const checkFalCallback = async (
  { header, body }: SentCallback,
  baseUrl: string,
  now: Date,
  signal: AbortSignal,
): Promise<CallbackCheck> => {
  const [requestId, userId, time, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map(
    (name) => header(`x-fal-webhook-${name}`),
  );
  if (!requestId || !userId || !time || !signature || !/^[0-9a-f]{128}$/i.test(signature)) return 'forged';
  if (!/^\d{1,12}$/.test(time)) return 'forged';
  if (Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_SECONDS) return 'forged';
  if (readBody(Body, parseJson(body.toString('utf8')))?.request_id !== requestId) return 'forged';
  const hash = createHash('sha256').update(body).digest('hex');
  const message = Buffer.from([requestId, userId, time, hash].join('\n'));
  const isBy = (key: KeyObject): boolean => verify(null, message, key, Buffer.from(signature, 'hex'));
  const url = falKeysUrl(baseUrl);
  for (const mostMs of [KEYS_KEPT_MS, KEYS_RENEWED_MS]) {
    const keys = await keysAt(url, mostMs, now, signal);
    if (keys === undefined) return 'unknown';
    if (keys.some(isBy)) return 'genuine';
  }
  return 'forged';
};

/** The address of a queue's keys, by the queue's base URL. */
export const falKeysUrl = (baseUrl: string): string =>
  FAL_QUEUES.has(new URL(baseUrl).hostname) ? FAL_KEYS_URL : baseUrl + KEYS_PATH;

/** The keys at an address, read at most `mostMs` ago; undefined when they cannot be read. */
const keysAt = async (
  url: string,
  mostMs: number,
  now: Date,
  signal: AbortSignal,
): Promise<readonly KeyObject[] | undefined> => {
  const found = known.get(url);
  if (found && now.getTime() - found.readMs < mostMs) return found.keys;
  try {
    const keys = await readKeys(url, signal);
    known.set(url, { keys, readMs: now.getTime() });
    return keys;
  } catch (error) {
    logger.warn('callback keys unreadable', { provider: 'fal', error: error as Error });
    return undefined;
  }
};

const readKeys = async (url: string, signal: AbortSignal): Promise<KeyObject[]> => {
  const response = await guardedRequest(url, { signal, maxResponseBytes: MAX_KEYS_BYTES });
  const body = await text(response.body);
  if (response.statusCode !== 200) throw new Error(`The keys were answered with ${response.statusCode}.`);
  const keys = Jwks.parse(JSON.parse(body)).keys.flatMap(readKey);
  if (keys.length === 0) throw new Error('There is no Ed25519 key.');
  return keys;
};

/** A key of the published set as a list; empty for a key of another kind or an unreadable one. */
const readKey = (published: unknown): KeyObject[] => {
  const key = readBody(Ed25519Key, published);
  if (!key) return [];
  try {
    return [createPublicKey({ key, format: 'jwk' })];
  } catch (error) {
    logger.warn('callback key unreadable', { provider: 'fal', error: error as Error });
    return [];
  }
};

export const forgetFalKeys = (): void => known.clear();
