import type { IncomingMessage, ServerResponse } from 'node:http';

/** A rule of a bucket: what pages of which origins may send it. */
export interface CorsRule {
  allowedMethods: readonly string[];
  allowedOrigins: readonly string[];
  allowedHeaders: readonly string[];
  exposedHeaders: readonly string[];
  maxAgeSeconds?: number;
}

/** The rules of each bucket, by its name. */
export type BucketCors = Readonly<Record<string, readonly CorsRule[]>>;

/** Whether a pattern of a rule, in which one `*` stands for anything, matches. */
const matches = (pattern: string, text: string): boolean => {
  const [start = '', end] = pattern.toLowerCase().split('*');
  const wanted = text.toLowerCase();
  return end === undefined ? wanted === start : wanted.startsWith(start) && wanted.endsWith(end);
};

/** Whether a request is a preflight of a browser. */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const listOf = (header: string | undefined): string[] =>
  (header ?? '').split(',').flatMap((name) => name.trim() || []);

/**
 * Sets the CORS headers of an answer by the first rule of the bucket that matches the request, with S3's way of
 * matching. Returns whether a rule matched. https://docs.aws.amazon.com/AmazonS3/latest/userguide/cors.html
 */
export const allowOrigin = (
  rules: readonly CorsRule[] = [],
  request: IncomingMessage,
  response: ServerResponse,
): boolean => {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const asked = isPreflight(request);
  const method = asked ? String(request.headers['access-control-request-method']) : (request.method ?? '');
  const headers = asked ? listOf(request.headers['access-control-request-headers']) : [];
  const rule = rules.find(
    ({ allowedMethods, allowedOrigins, allowedHeaders }) =>
      allowedMethods.includes(method) &&
      allowedOrigins.some((pattern) => matches(pattern, origin)) &&
      headers.every((name) => allowedHeaders.some((pattern) => matches(pattern, name))),
  );
  if (!rule) return false;
  const isAny = rule.allowedOrigins.includes('*');
  response.setHeader('Access-Control-Allow-Origin', isAny ? '*' : origin);
  response.setHeader('Access-Control-Allow-Methods', rule.allowedMethods.join(', '));
  if (headers.length > 0) response.setHeader('Access-Control-Allow-Headers', headers.join(', '));
  if (rule.exposedHeaders.length > 0)
    response.setHeader('Access-Control-Expose-Headers', rule.exposedHeaders.join(', '));
  if (rule.maxAgeSeconds !== undefined)
    response.setHeader('Access-Control-Max-Age', String(rule.maxAgeSeconds));
  response.setHeader('Vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
  return true;
};
