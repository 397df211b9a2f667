import * as z from 'zod/mini';
// Each registers the schemas of its answers.
import '../../core/ledger/usage-answers.ts';
import '../../core/models/model-answers.ts';
import '../../core/requests/deletion-answers.ts';
import '../../core/uploads/upload-answers.ts';
import './pages.ts';
import { ErrorBody } from '../../core/error-answers.ts';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { WEBHOOK_EVENTS, type WebhookType } from '../../core/requests/records.ts';
import { ROUTES } from '../../core/routes.ts';
import { EVENTS, REFUSALS } from './examples.ts';
import { answerSchema, answerSchemas, type Json, schemaRef } from './json-schema.ts';
import { MODEL_ID_SCHEMAS } from './notes.ts';
import { BODY_SCHEMAS, type CallerEndpoint, OPERATIONS, type Operation } from './operations.ts';
import { quickStart } from './quick-start.ts';
import { codeSamples } from './samples.ts';

const INFO = {
  title: 'Generation service',
  version: '1',
  summary: 'Asynchronous image and video generation behind one prepaid API.',
  description: [
    quickStart(),
    '## Conventions',
    'A creation answers 202 at once; give `webhookUrl`, or read the record every 5 s, as `Retry-After` says. Amounts are xTokens.',
    'Refusals come in this order: 401, 403 (scope), 429, 400, 409 (`Idempotency-Key`), 403 (blocked end-user), 409 (end-user being deleted), 503, 402, 422; last, for reference videos, what measuring them finds. Nothing is created or debited before all have passed.',
    'Another path is 404 `not_found`, and so is another method on a path of this document, with an `Allow` header. Bodies are at most 256 KiB. A body on a route that takes none is ignored. Unknown fields and query parameters are refused.',
  ].join('\n\n'),
};

const TAGS = [
  { name: 'Images', description: 'Requests for images.' },
  { name: 'Videos', description: 'Requests for videos.' },
  { name: 'Deletion', description: 'Of requests of both kinds.' },
  { name: 'Files', description: 'Your own files as input.' },
  { name: 'Models', description: 'What can be used, and its limits.' },
  { name: 'End-users', description: 'Your own users, each known by an email address.' },
  { name: 'Balance', description: 'Prepaid xTokens, and every change of them.' },
  {
    name: 'Webhooks',
    description:
      'What the service posts to the `webhookUrl` of a creation, and of a balance to the URL that the operator set.',
  },
];

const HEADERS: Record<string, Json> = {
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
};
/** Headers of every answer. */
const COMMON_HEADERS = ['X-Request-Id', 'X-Service-Version'];
const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(
    names.map((name) => [name.replace(/-If-.*/, ''), { $ref: `#/components/headers/${name}` }]),
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
  const { description, headers = [] } = REFUSAL_NAMES[status] ?? {};
  const codes = codesOf(status);
  return {
    description,
    headers: headerRefs([...COMMON_HEADERS, ...headers]),
    content: {
      'application/json': {
        schema: errorSchema(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { value: REFUSALS[code] }])),
      },
    },
  };
};

const camelCase = (kebab: string): string =>
  kebab.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());

const PATH_PARAMETERS: Record<string, string> = {
  requestId: 'The id of the request.',
  email: 'The address of the end-user, URL-encoded.',
};

const pathParameters = (path: Record<string, string> = {}): Json[] =>
  Object.entries(path).map(([name, value]) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name],
    schema: { type: 'string' },
    example: value,
  }));

/** `examples` with one name is one example. */
const examplesOf = (examples: Record<string, unknown>): Json =>
  'example' in examples
    ? examples
    : { examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])) };

const operationOf = (name: CallerEndpoint, operation: Operation): Json => {
  const {
    tag,
    summary,
    description,
    scope,
    path,
    parameters = [],
    body,
    client,
    answer,
    refusals = [],
  } = operation;
  const all = [...pathParameters(path), ...parameters];
  const called = Object.entries(path ?? {}).reduce(
    (text, [parameter, value]) => text.replace(`{${parameter}}`, encodeURIComponent(value)),
    ROUTES[name].path as string,
  );
  const { method } = ROUTES[name];
  const statuses = [...EVERYWHERE, ...refusals].sort((one, other) => one - other);
  return {
    operationId: camelCase(name),
    tags: [tag],
    summary,
    description,
    security: [{ apiKey: [scope] }],
    ...(all.length > 0 && { parameters: all }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaRef(body.schema), example: body.example } },
      },
    }),
    responses: {
      [answer.status]: {
        description: answer.description,
        headers: headerRefs([...COMMON_HEADERS, ...(answer.headers ?? [])]),
        content: { 'application/json': { schema: answer.schema, ...examplesOf(answer.examples) } },
      },
      ...Object.fromEntries(
        statuses.map((status) => [status, { $ref: `#/components/responses/${REFUSAL_NAMES[status]?.name}` }]),
      ),
    },
    'x-codeSamples': codeSamples({ method, path: called, body: body?.example, client }),
  };
};

const paths = (): Json => {
  const found: Record<string, Json> = {};
  for (const [name, operation] of Object.entries(OPERATIONS) as [CallerEndpoint, Operation][]) {
    const { method, path } = ROUTES[name];
    found[path] = { ...found[path], [method.toLowerCase()]: operationOf(name, operation) };
  }
  return found;
};

const WEBHOOK_HEADERS = {
  'webhook-id': 'The same in every attempt: skip one that you have seen.',
  'webhook-timestamp': 'When this attempt was signed, in epoch seconds. Refuse one that is 5 min off.',
  'webhook-signature':
    '`v1,` and the base64 of an HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`; two, separated by a space, while the secret is rotated.',
};

const webhookOf = (type: WebhookType): Json => ({
  post: {
    operationId: `on${camelCase(`-${type.replace('.', '-')}`)}`,
    tags: ['Webhooks'],
    summary: type,
    description:
      'Signed by the Standard Webhooks scheme, and repeated for about three days until it is accepted. Verify the signature over the raw body.',
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef(eventName(type)), example: EVENTS[type] } },
    },
    responses: {
      '2XX': { description: 'Accepted, within 15 s.' },
      '410': { description: 'The receiver is gone: nothing more is sent of this event.' },
    },
  },
});

const eventName = (type: WebhookType): string => {
  const [noun = '', verb = ''] = type.split('.');
  return `${camelCase(`-${noun}`)}${camelCase(`-${verb}`)}Event`;
};

/** The OpenAPI 3.1 document of the API. */
export const openApiDocument = (): Json => ({
  openapi: '3.1.0',
  info: INFO,
  servers: [{ url: '/', description: 'Where the API is.' }],
  tags: TAGS,
  paths: paths(),
  webhooks: Object.fromEntries(
    (Object.keys(WEBHOOK_EVENTS) as WebhookType[]).map((type) => [type, webhookOf(type)]),
  ),
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: '`Authorization: Bearer <API_KEY>`. The operator issues keys and decides their scopes.',
      },
    },
    parameters: {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        description: 'Makes the creation safe to repeat for 24 h. 1 to 255 printable ASCII characters.',
        schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,255}$' },
        example: 'order-17',
      },
    },
    headers: HEADERS,
    responses: Object.fromEntries(
      Object.entries(REFUSAL_NAMES).map(([status, { name }]) => [name, refusalResponse(Number(status))]),
    ),
    schemas: sortedByName({ ...answerSchemas(), ...BODY_SCHEMAS, ...MODEL_ID_SCHEMAS }),
  },
});

const sortedByName = (schemas: Record<string, unknown>): Json =>
  Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The text of `docs/openapi.json`. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), null, 2)}\n`;
