import * as z from 'zod/mini';
import { ErrorBody } from '../../core/error-answers.ts';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { REFUSALS } from './examples.ts';
import { answerSchema, type Json } from './json-schema.ts';
import type { OwnRefusal } from './operations.ts';

/** The headers of answers. A name that ends in `-If-…` is the same header, sent in that case only. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': {
    description: 'Names this call. Quote it when you report a problem.',
    required: true,
    schema: { type: 'string' },
  },
  'X-Service-Version': {
    description: 'The version of the service that answered.',
    required: true,
    schema: { type: 'string' },
  },
  Location: {
    description: 'Where to read the record: its `pollUrl`.',
    required: true,
    schema: { type: 'string', format: 'uri' },
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the next call.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
  },
  'Retry-After-If-Busy': {
    description: 'Whole seconds to wait before the next call, when the service is busy.',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
  },
  'Retry-After-If-Unfinished': {
    description: 'Whole seconds to wait before the next read, while the request is unfinished.',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
  },
  'Idempotency-Replayed': {
    description: 'Present when an earlier call with this `Idempotency-Key` was accepted.',
    schema: { type: 'string', const: 'true' },
  },
  Deprecation: {
    description: 'Of a model whose end is announced: since when, by RFC 9745.',
    schema: { type: 'string', pattern: '^@\\d+$' },
  },
  Sunset: {
    description: 'Of a model whose end is announced: its end, as an HTTP date, by RFC 8594.',
    schema: { type: 'string' },
  },
};
/** Headers of every answer. */
const COMMON_HEADERS = ['X-Request-Id', 'X-Service-Version'];
/** References to the headers of every answer and to the named headers. */
export const headerRefs = (names: readonly string[] = []): Json =>
  Object.fromEntries(
    [...COMMON_HEADERS, ...names].map((name) => [
      name.replace(/-If-.*/, ''),
      { $ref: `#/components/headers/${name}` },
    ]),
  );

/** Codes that stand only in the records of requests. */
const IN_RECORDS_ONLY: readonly ErrorCode[] = ['provider_timeout', 'provider_error'];

/** A refusal's response by its status. */
const REFUSAL_NAMES: Record<number, { name: string; description: string; headers?: string[] }> = {
  400: { name: 'ValidationError', description: 'The body, the path, the query or a header is wrong.' },
  401: { name: 'Unauthorized', description: 'No usable API key, or the account is blocked.' },
  402: { name: 'PaymentRequired', description: 'The balance does not cover the request.' },
  403: { name: 'Forbidden', description: 'The key lacks the scope, or the end-user is blocked.' },
  404: { name: 'NotFound', description: 'You own nothing with that id.' },
  409: {
    name: 'Conflict',
    description:
      'The request is unfinished, the end-user is being deleted, or the `Idempotency-Key` has another body.',
  },
  422: { name: 'ContentPolicy', description: 'A content filter refused the prompt.' },
  429: { name: 'RateLimited', description: 'Too many calls.', headers: ['Retry-After'] },
  500: {
    name: 'InternalError',
    description: 'Something went wrong on our side.',
    headers: ['Retry-After-If-Busy'],
  },
  503: {
    name: 'TemporarilyUnavailable',
    description: 'This end-user and model are paused after a time-out, or a deletion has more to do.',
    headers: ['Retry-After'],
  },
};
const EVERYWHERE = [400, 401, 403, 429, 500];

const codesOf = (status: number): ErrorCode[] =>
  (Object.keys(ERROR_STATUS) as ErrorCode[]).filter(
    (code) => ERROR_STATUS[code] === status && !IN_RECORDS_ONLY.includes(code),
  );

/** The body of errors with these codes. Only a validation error names fields. */
const errorSchema = (codes: readonly ErrorCode[]): Json => {
  const { code: _code, fields, ...others } = ErrorBody.shape.error.shape;
  const own = { code: z.enum(codes), ...others };
  const error = codes.includes('validation_error') ? { ...own, fields } : own;
  return answerSchema(z.object({ error: z.object(error) }));
};

const refusalResponse = (status: number): Json => {
  const { description, headers } = REFUSAL_NAMES[status] ?? {};
  const codes = codesOf(status);
  return {
    description,
    headers: headerRefs(headers),
    content: {
      'application/json': {
        schema: errorSchema(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { value: REFUSALS[code] }])),
      },
    },
  };
};

/** References to the refusals that every operation has, and to its own, by status. */
export const refusalRefs = (own: readonly OwnRefusal[] = []): Json =>
  Object.fromEntries(
    [...EVERYWHERE, ...own]
      .sort((one, other) => one - other)
      .map((status) => [status, { $ref: `#/components/responses/${REFUSAL_NAMES[status]?.name}` }]),
  );

/** The responses of all refusals, by name. */
export const refusalResponses = (): Json =>
  Object.fromEntries(
    Object.entries(REFUSAL_NAMES).map(([status, { name }]) => [name, refusalResponse(Number(status))]),
  );
