import type { APIGatewayProxyEvent } from 'aws-lambda';
import { matchesMediaType } from './media-types.ts';
import type { RouteMatch } from './router.ts';

/** An HTTP request. */
export interface IncomingRequest {
  method: string;
  /** As the client sent it, without the query. */
  path: string;
  /** The query without `?`; may be empty. */
  query: string;
  /** Alternating names and values, in the client's case and order. */
  rawHeaders: string[];
  body: Buffer;
  /** The port that received the request. */
  port: number;
}

type MultiValues = Map<string, string[]>;

const lastValues = (values: MultiValues): Record<string, string> =>
  Object.fromEntries([...values].map(([name, list]) => [name, list.at(-1) ?? ''] as const));

/** Headers by name, in the first spelling of each. */
const headersOf = (rawHeaders: string[]): MultiValues => {
  const headers: MultiValues = new Map();
  const spellings = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const spelling = spellings.get(name.toLowerCase()) ?? name;
    spellings.set(name.toLowerCase(), spelling);
    headers.set(spelling, [...(headers.get(spelling) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return headers;
};

/** Adds the `X-Forwarded-*` headers; `X-Forwarded-For` is appended to that of an earlier proxy. */
const addForwarded = (headers: MultiValues, sourceIp: string, port: number) => {
  const add = (name: string, value: string, isAppended = false) => {
    const spelling = [...headers.keys()].find((known) => known.toLowerCase() === name.toLowerCase()) ?? name;
    const known = isAppended ? (headers.get(spelling) ?? []) : [];
    headers.set(spelling, [[...known, value].join(', ')]);
  };
  add('X-Forwarded-For', sourceIp, true);
  add('X-Forwarded-Port', String(port));
  add('X-Forwarded-Proto', 'http');
};

/** The query, decoded once. `+` is a space; a name without a value has an empty one. */
const queryOf = (query: string): MultiValues => {
  const values: MultiValues = new Map();
  for (const [name, value] of new URLSearchParams(query)) {
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
};

/** The last value of a header; ignores case. */
export const headerOf = (rawHeaders: string[], name: string): string | undefined => {
  const index = rawHeaders.findLastIndex(
    (text, position) => position % 2 === 0 && text.toLowerCase() === name.toLowerCase(),
  );
  return index < 0 ? undefined : rawHeaders[index + 1];
};

/** The event a REST API gives a function (payload format 1.0), for a request that matched `match`. */
export const proxyEventOf = (
  request: IncomingRequest,
  { route, pathParameters }: RouteMatch,
  requestContext: APIGatewayProxyEvent['requestContext'],
  binaryMediaTypes: string[],
): APIGatewayProxyEvent => {
  const headers = headersOf(request.rawHeaders);
  addForwarded(headers, requestContext.identity.sourceIp, request.port);
  const query = queryOf(request.query);
  const contentType = headerOf(request.rawHeaders, 'content-type');
  const isBinary = request.body.length > 0 && matchesMediaType(binaryMediaTypes, contentType);
  return {
    resource: route.resourcePath,
    path: request.path,
    httpMethod: request.method,
    headers: lastValues(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: query.size > 0 ? lastValues(query) : null,
    multiValueQueryStringParameters: query.size > 0 ? Object.fromEntries(query) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext: { ...requestContext, resourcePath: route.resourcePath },
    body: request.body.length > 0 ? request.body.toString(isBinary ? 'base64' : 'utf8') : null,
    isBase64Encoded: isBinary,
  };
};
