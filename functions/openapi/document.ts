// Each registers the schemas of its answers.
import '../../core/creation/quote-answers.ts';
import '../../core/ledger/usage-answers.ts';
import '../../core/models/model-answers.ts';
import '../../core/requests/deletion-answers.ts';
import '../../core/uploads/upload-answers.ts';
import './pages.ts';
import { WEBHOOK_EVENTS, type WebhookType } from '../../core/requests/records.ts';
import { ROUTES } from '../../core/routes.ts';
import { BODY_SCHEMAS } from './body-schemas.ts';
import { EVENTS } from './examples.ts';
import { answerSchemas, type FieldNotes, type Json, schemaRef } from './json-schema.ts';
import { IMAGE_NOTES, MODEL_ID_SCHEMAS, VIDEO_NOTES } from './notes.ts';
import { type CallerEndpoint, OPERATIONS, type Operation } from './operations.ts';
import { quickStart } from './quick-start.ts';
import { HEADERS, headerRefs, refusalRefs, refusalResponses } from './refusals.ts';
import { codeSamples } from './samples.ts';

const INFO = {
  title: 'Generation service',
  version: '1',
  summary: 'Asynchronous image and video generation behind one prepaid API.',
  description: [
    quickStart(),
    '## Conventions',
    'A creation answers 202 at once; give `webhookUrl`, or read the record every 5 s, as `Retry-After` says. Amounts are xTokens.',
    'Refusals come in this order: 401, 403 (scope), 429, 400, 409 (`Idempotency-Key`), 403 (blocked end-user), 409 (end-user being deleted), 503, 402, 422; last, what measuring reference videos and your own files finds: 400, then 402. Nothing is created or debited before all have passed.',
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

/** The path of an endpoint with the example values of its parameters. */
const examplePath = (name: CallerEndpoint, values: Operation['path']): string =>
  Object.entries(values ?? {}).reduce(
    (text, [parameter, value]) => text.replace(`{${parameter}}`, encodeURIComponent(value)),
    ROUTES[name].path as string,
  );

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
    refusals,
  } = operation;
  const all = [...pathParameters(path), ...parameters];
  const { method } = ROUTES[name];
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
        headers: headerRefs(answer.headers),
        content: { 'application/json': { schema: answer.schema, ...examplesOf(answer.examples) } },
      },
      ...refusalRefs(refusals),
    },
    'x-codeSamples': codeSamples({ method, path: examplePath(name, path), body: body?.example, client }),
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
    responses: refusalResponses(),
    schemas: sortedByName({ ...answers(), ...BODY_SCHEMAS, ...MODEL_ID_SCHEMAS }),
  },
});

/** The schemas of answers. The `input` of a record has the descriptions of the creation's fields. */
const answers = (): Record<string, Json> => {
  const { ImageInput = {}, VideoInput = {}, ...others } = answerSchemas();
  return {
    ...others,
    ImageInput: withNotes(ImageInput, IMAGE_NOTES),
    VideoInput: withNotes(VideoInput, VIDEO_NOTES),
  };
};

const withNotes = (schema: Json, notes: FieldNotes): Json => {
  const properties = Object.entries(schema.properties as Record<string, Json>);
  const described = properties.map(([name, property]) => [
    name,
    { description: notes[name]?.description, ...property },
  ]);
  return { ...schema, properties: Object.fromEntries(described) };
};

const sortedByName = (schemas: Record<string, unknown>): Json =>
  Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The text of `docs/openapi.json`. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), null, 2)}\n`;
