import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Answer } from './answer.ts';
import { matchesMediaType } from './media-types.ts';

/**
 * Headers that a function cannot set; API Gateway sends them under another name:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
 */
const REMAPPED = new Set(['connection', 'date', 'server', 'via', 'www-authenticate']);

/** Headers about the transfer of the body, which the gateway decides. */
const DROPPED = new Set(['content-length', 'transfer-encoding', 'keep-alive', 'trailer', 'upgrade']);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

const headersOf = (response: Record<string, unknown>): Record<string, string[]> | undefined => {
  const { headers = {}, multiValueHeaders = {} } = response;
  if (!isObject(headers ?? {}) || !isObject(multiValueHeaders ?? {})) return undefined;
  const merged = new Map<string, { name: string; values: unknown[] }>();
  for (const [name, value] of Object.entries(headers ?? {})) {
    merged.set(name.toLowerCase(), { name, values: [value] });
  }
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) {
    if (!Array.isArray(values)) return undefined;
    merged.set(name.toLowerCase(), { name, values });
  }

  const answer: Record<string, string[]> = {};
  for (const [key, { name, values }] of merged) {
    if (!values.every(isScalar)) return undefined;
    if (DROPPED.has(key)) continue;
    const sentName = REMAPPED.has(key) ? `x-amzn-Remapped-${name}` : name;
    try {
      validateHeaderName(sentName);
      for (const value of values) validateHeaderValue(sentName, String(value));
    } catch {
      return undefined;
    }
    answer[sentName] = values.map(String);
  }
  if (!merged.has('content-type')) answer['Content-Type'] = ['application/json'];
  return answer;
};

/**
 * The HTTP answer for a function's proxy response; undefined when it is malformed. As on API Gateway, a base64 body is decoded only when
 * the request accepts one of the API's binary media types.
 */
export const proxyAnswer = (
  response: unknown,
  binaryMediaTypes: string[],
  accept: string | undefined,
): Answer | undefined => {
  if (!isObject(response)) return undefined;
  const { body = null, isBase64Encoded = false } = response;
  const statusCode = Number(response.statusCode);
  const headers = headersOf(response);
  if (!Number.isInteger(statusCode) || statusCode < 100 || statusCode > 599 || !headers) return undefined;
  if (body !== null && typeof body !== 'string') return undefined;
  const isBinary = isBase64Encoded === true && matchesMediaType(binaryMediaTypes, accept);
  return { statusCode, headers, body: Buffer.from(body ?? '', isBinary ? 'base64' : 'utf8') };
};
