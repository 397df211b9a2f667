import { Reply, UpstreamError } from '../http.ts';

/** An error of the platform, or of an account without a type. */
export const renderError = ({ code, message }: UpstreamError) => ({
  detail: message,
  ...(code !== '' && { error_type: code }),
});

/** 401: missing or wrong key. */
export const unauthorized = () =>
  new UpstreamError(401, '', 'Cannot access application. Authentication is required.');

/** 404: no such application. */
export const applicationNotFound = (path: string) =>
  new UpstreamError(404, '', `Application "${path.split('/')[3] ?? ''}" not found`);

/** 429: too many calls; retryable. */
export const tooManyCalls = (retryAfterSeconds: number | undefined) =>
  new UpstreamError(429, 'concurrent_requests_limit', 'Too many requests.', { retryAfterSeconds });

/** 503: the queue does not answer now. */
export const unavailable = (retryAfterSeconds: number | undefined) =>
  new UpstreamError(503, '', 'Service unavailable.', { retryAfterSeconds });

/** 400: the body is no JSON object. */
export const badRequest = () => new UpstreamError(400, 'bad_request', 'The body is no JSON object.');

/** 413: the body is too large. */
export const bodyTooLarge = () => new UpstreamError(413, '', 'The body is too large.');

/** 500: the sandbox broke. */
export const internalError = () => new UpstreamError(500, 'internal_error', 'Internal error.');

/** 404: no request has this id. */
export const requestNotFound = () => new Reply(404, { status: 'NOT_FOUND' });

/** 400: the result of a request that is under way. */
export const stillInProgress = () => new Reply(400, { detail: 'Request is still in progress' });

/** A field as fal places it: an index is a part of its own. */
const locOf = (field: string): (string | number)[] => {
  const [, name = field, index] = /^(\w+)\[(\d+)\]$/.exec(field) ?? [];
  return ['body', name, ...(index === undefined ? [] : [Number(index)])];
};

/** An error of a model, which is the result of its request. */
export const modelError = (status: number, type: string, msg: string, field = 'prompt') =>
  new Reply(status, {
    detail: [{ loc: locOf(field), msg, type, url: `https://docs.fal.ai/errors#${type}`, input: null }],
  });
