import { createPublicKey } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { parseByteRange, sliceBytes } from './byte-range.ts';
import { checkSignedUrl } from './delivery/signed-url.ts';
import type { HandleRequest } from './gateway/gateway.ts';
import type { BehaviorSpec, DistributionSpec } from './template/distribution.ts';

/** A stored object, opened by the AWS endpoint. */
export interface StoredObject {
  body: Readable;
  contentType: string;
  contentLength: number;
  etag: string;
  /** Other headers that were stored with the object, in lower case. */
  headers?: Record<string, string>;
}

/** What the file route works with. */
export interface DeliveryOptions {
  distribution: DistributionSpec;
  /** Stands for the distribution's URL; object keys follow it. Without a trailing slash. */
  deliveryBaseUrl: string;
  /** Opens an object; undefined when it is absent. */
  readObject: (bucket: string, key: string) => Promise<StoredObject | undefined>;
  now?: () => Date;
  log?: (line: string) => void;
}

const MESSAGES = {
  AccessDenied: 'Access Denied',
  InternalError: 'We encountered an internal error. Please try again.',
  InvalidKey: 'Unknown Key',
  InvalidRange: 'The requested range is not satisfiable',
  MissingKey: 'Missing Key-Pair-Id query parameter or cookie value',
};

const refuse = (response: ServerResponse, statusCode: number, code: keyof typeof MESSAGES) => {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${MESSAGES[code]}</Message></Error>`;
  response.writeHead(statusCode, {
    'Content-Type': 'text/xml',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
};

const matchesEtag = (header: string | undefined, etag: string) =>
  header?.split(',').some((item) => ['*', etag].includes(item.trim().replace(/^W\//, '')));

/** The object key of a path under the delivery URL; undefined when it holds a broken escape. */
const objectKeyOf = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};

/**
 * Content types and sizes in bytes that CloudFront compresses:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/ServingCompressedFiles.html
 */
const COMPRESSED_TYPES =
  /^(text\/(html|css|javascript|plain)|application\/(json|javascript)|image\/svg\+xml)(;|$)/;
const [MIN_COMPRESSED_BYTES, MAX_COMPRESSED_BYTES] = [1_000, 10_000_000];

const isCompressed = (
  { headers }: IncomingMessage,
  { contentType, contentLength, headers: stored }: StoredObject,
): boolean =>
  stored?.['content-encoding'] === undefined &&
  headers.range === undefined &&
  /\bgzip\b/.test(String(headers['accept-encoding'])) &&
  COMPRESSED_TYPES.test(contentType) &&
  contentLength >= MIN_COMPRESSED_BYTES &&
  contentLength <= MAX_COMPRESSED_BYTES;

const send = async (
  request: IncomingMessage,
  response: ServerResponse,
  object: StoredObject,
  compresses: boolean,
) => {
  const { body, contentType, contentLength, etag, headers = {} } = object;
  if (response.destroyed) {
    body.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('ETag', etag);
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    body.destroy();
    response.writeHead(304).end();
    return;
  }

  const ifRange = request.headers['if-range'];
  const wantsRange = ifRange === undefined || ifRange === etag;
  const range = wantsRange ? parseByteRange(request.headers.range, contentLength) : undefined;
  if (range === 'unsatisfiable') {
    body.destroy();
    response.setHeader('Content-Range', `bytes */${contentLength}`);
    refuse(response, 416, 'InvalidRange');
    return;
  }

  if (compresses && request.method === 'GET' && isCompressed(request, object)) {
    const compressed = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding', ETag: `W/${etag}` };
    response.writeHead(200, { 'Content-Type': contentType, ...compressed });
    await pipeline(body, createGzip(), response);
    return;
  }

  if (range) response.setHeader('Content-Range', `bytes ${range.first}-${range.last}/${contentLength}`);
  response.writeHead(range ? 206 : 200, {
    'Content-Type': contentType,
    'Content-Length': range ? range.last - range.first + 1 : contentLength,
  });
  if (request.method === 'HEAD') {
    body.destroy();
    response.end();
    return;
  }
  await pipeline(range ? Readable.from(sliceBytes(body, range)) : body, response);
};

/** Whether a path matches a pattern of CloudFront's: `*` stands for any characters, `?` for one. */
const matches = (pathPattern: string): RegExp =>
  new RegExp(
    `^${pathPattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );

/** The behaviour of a path: the first whose pattern it matches, else the default one. */
const behaviorsOf = (distribution: DistributionSpec) => {
  const prepare = ({ trustedKeys, ...behavior }: BehaviorSpec) => ({
    ...behavior,
    trustedKeys:
      trustedKeys && new Map([...trustedKeys].map(([id, pem]) => [id, createPublicKey(pem)] as const)),
  });
  const byDefault = prepare(distribution);
  const others = (distribution.paths ?? []).map((one) => ({
    pattern: matches(one.pathPattern),
    behavior: prepare(one),
  }));
  return (path: string) => others.find(({ pattern }) => pattern.test(path))?.behavior ?? byDefault;
};

/**
 * Whether the distribution has a behaviour for a path. Paths with a behaviour are served at the API's address too, so
 * that one address serves everything. Not `/`, which the API answers itself.
 */
export const hasOwnBehavior = ({ paths = [] }: DistributionSpec): ((path: string) => boolean) => {
  const patterns = paths.map(({ pathPattern }) => matches(pathPattern));
  return (path) => path !== '/' && patterns.some((pattern) => pattern.test(path));
};

/**
 * The file route, a stand-in for CloudFront in front of a private bucket: GET and HEAD, byte ranges, and URLs signed by one of the
 * distribution's trusted keys. An absent file answers 403, as CloudFront does when it may not list the bucket.
 */
export const createDelivery = (options: DeliveryOptions): HandleRequest => {
  const {
    distribution,
    deliveryBaseUrl,
    readObject,
    now = () => new Date(),
    log = () => undefined,
  } = options;
  const base = new URL(deliveryBaseUrl);
  const behaviorOf = behaviorsOf(distribution);

  return async (request, response) => {
    const target = request.url ?? '/';
    const [fullPath = ''] = target.split('?', 1);
    const path = fullPath.startsWith(`${base.pathname}/`) ? fullPath.slice(base.pathname.length) : fullPath;
    const { bucketName, trustedKeys, responseHeaders, corsHeaders, compresses = false } = behaviorOf(path);
    const isForPage = request.headers.origin !== undefined;
    for (const [name, value] of Object.entries({ ...responseHeaders, ...(isForPage && corsHeaders) })) {
      response.setHeader(name, value);
    }
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 403, 'AccessDenied');
      const verdict = trustedKeys ? checkSignedUrl(base.origin + target, trustedKeys, now()) : 'valid';
      if (verdict !== 'valid') return refuse(response, 403, verdict);
      // AWS does not say whether it looks for the behaviour of `/` or of this object: both should be the same.
      const asked = path === '/' ? (distribution.rootObject ?? '') : path.slice(1);
      const key = objectKeyOf(asked);
      const object = key ? await readObject(bucketName, key) : undefined;
      if (!object) return refuse(response, 403, 'AccessDenied');
      await send(request, response, object, compresses);
    } catch (error) {
      log(`${request.method} ${fullPath} was not delivered: ${error}`);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'InternalError');
    }
  };
};
