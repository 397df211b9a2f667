import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isObject } from '../http.ts';

/** A request that made a task or files, to be made again. */
export type MadeRequest = {
  path: string;
  /** `x-dashscope-async`, when it was given. */
  async?: string;
  body: Record<string, unknown>;
  /** When it was made, in epoch milliseconds. */
  at: number;
};

/** Longer texts are cut, so that a token fits into a URL. Directives beyond do not count. */
const MAX_TEXT = 600;
/** Stands for an input file, which the sandbox does not fetch. */
const ANY_FILE = 'https://example.com/';
/** No token is longer: it comes from anybody. */
const MAX_INFLATED_BYTES = 256 * 1024;

const compact = (value: unknown): unknown => {
  if (typeof value === 'string') {
    if (/^(https?|data|asset):/i.test(value)) return ANY_FILE;
    return value.slice(0, MAX_TEXT).toWellFormed();
  }
  if (Array.isArray(value)) return value.map(compact);
  if (!isObject(value)) return value;
  // A callback URL is a secret of the caller's, and would be in file URLs.
  const kept = Object.entries(value).filter(([name]) => name !== 'callback_url');
  return Object.fromEntries(kept.map(([name, each]) => [name, compact(each)]));
};

/** A request as text for a URL. Holds what decides the answer, not its callback URL or the addresses of its files. */
export const toToken = (request: MadeRequest): string =>
  deflateRawSync(JSON.stringify({ ...request, body: compact(request.body) })).toString('base64url');

/** The request in a token; undefined when it is none. */
export const fromToken = (token: string): MadeRequest | undefined => {
  try {
    const bytes = inflateRawSync(Buffer.from(token, 'base64url'), { maxOutputLength: MAX_INFLATED_BYTES });
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (!isObject(value) || !isObject(value.body)) return undefined;
    const { path, at, async: asynchronous, body } = value;
    if (typeof path !== 'string' || typeof at !== 'number') return undefined;
    return { path, at, body, ...(typeof asynchronous === 'string' && { async: asynchronous }) };
  } catch {
    // Not compressed, or no JSON: text of somebody else's.
    return undefined;
  }
};
