import assert from 'node:assert/strict';
import { VERSION } from '../../../lib/release.ts';

/** The body of every error. */
export interface ErrorBody {
  error: { code: string; message: string; fields?: Record<string, string> };
}

/** An answer of the API, its body parsed. */
export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: T;
}

/** The error codes of the API and the HTTP statuses each may come with. */
const STATUSES_OF_CODE: Record<string, number[]> = {
  validation_error: [400],
  unauthorized: [401],
  account_blocked: [401],
  payment_required: [402],
  forbidden: [403],
  not_found: [404],
  conflict: [409],
  content_policy: [422],
  rate_limited: [429],
  provider_timeout: [500],
  provider_error: [500],
  internal_error: [500],
  temporarily_unavailable: [503],
};

/** Throws unless an answer has a request id, the service's version, a JSON body and, if it is an error, the shape of every error. */
export const checkAnswer = (request: string, { status, headers, body }: Answer<unknown>): void => {
  assert.equal(headers.get('content-type'), 'application/json', `content type of ${request}`);
  assert.match(headers.get('x-request-id') ?? '', /^\S+$/, `request id of ${request}`);
  assert.equal(headers.get('x-service-version'), VERSION, `version in ${request}`);
  if (status < 400) return;

  assert.deepEqual(Object.keys(body as ErrorBody), ['error'], `error body of ${request}`);
  const { code, message, fields, ...others } = (body as ErrorBody).error;
  if ('type' in others) assert.deepEqual(others, { type: others.type, param: null }, `error of ${request}`);
  else assert.deepEqual(others, {}, `error of ${request}`);
  assert.ok(STATUSES_OF_CODE[code]?.includes(status), `${request} answered ${status} with ${code}`);
  assert.ok(message.length > 0, `message of ${request}`);
  if (fields === undefined) return;
  assert.equal(code, 'validation_error', `only a validation error names fields: ${request}`);
  const messages = Object.values(fields);
  assert.ok(messages.length > 0, `fields of ${request}`);
  for (const each of messages) assert.equal(typeof each, 'string', `message for a field of ${request}`);
};

/** The names of the fields that a 400 reports, sorted. Throws for any other answer. */
export const wrongFields = ({ status, body }: Answer<unknown>): string[] => {
  assert.equal(status, 400, JSON.stringify(body));
  return Object.keys((body as ErrorBody).error.fields ?? {}).sort();
};

/** The status and the error code of a refusal. */
export const refusal = ({ status, body }: Answer<unknown>): [status: number, code: string] => [
  status,
  (body as ErrorBody).error.code,
];
