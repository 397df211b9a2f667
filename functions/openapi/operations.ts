import type { Scope } from '../../core/accounts/api-keys.ts';
import type { EndpointName } from '../../core/routes.ts';
import { BALANCE_QUERY, END_USERS_QUERY, MODELS_QUERY, PAGE_QUERY, USAGE_QUERY } from '../http/queries.ts';
import { RECORD_QUERY } from '../http/record-read.ts';
import { REQUESTS_QUERIES } from '../http/request-queries.ts';
import type { BODY_SCHEMAS } from './body-schemas.ts';
import { ANSWERS, BODIES, IMAGE_RECORDS, PATH_EXAMPLES, VIDEO_RECORDS } from './examples.ts';
import { type Json, queryParameters, schemaRef } from './json-schema.ts';
import { BALANCE_NOTES, MODELS_NOTES, QUERY_NOTES } from './notes.ts';

/** The routes that callers use: all but the one of the providers. */
export type CallerEndpoint = Exclude<EndpointName, 'receive-callback'>;

/** Statuses of refusals that only some operations have. Every operation has 400, 401, 403, 429 and 500. */
export type OwnRefusal = 402 | 404 | 409 | 422 | 503;

/** An operation of the document, without the parts derived from its route and from the table of errors. */
export interface Operation {
  tag: string;
  summary: string;
  description: string;
  scope: Scope;
  /** Query and header parameters. */
  parameters?: Json[];
  /** Examples of the path's parameters. */
  path?: Record<string, string>;
  /** The call of the client that sends the example. */
  client: string;
  /** The name of the body's schema among `BODY_SCHEMAS`, and an example. */
  body?: { schema: keyof typeof BODY_SCHEMAS; example: Json };
  answer: {
    status: 200 | 201 | 202;
    description: string;
    schema: Json;
    examples: Record<string, unknown>;
    headers?: readonly string[];
  };
  refusals?: readonly OwnRefusal[];
}

/** A call of the client with these arguments. */
const call = (method: string, ...given: unknown[]): string =>
  `${method}(${given.map((one) => JSON.stringify(one, null, 2)).join(', ')})`;
const queries = (query: Parameters<typeof queryParameters>[0]): Json[] => queryParameters(query, QUERY_NOTES);

const IDEMPOTENCY_KEY: Json = { $ref: '#/components/parameters/IdempotencyKey' };
const CREATION_REFUSALS = [402, 409, 422, 503] as const;
const IMAGES = { requestId: PATH_EXAMPLES.requestId };
const END_USER = { email: PATH_EXAMPLES.email };

/** Headers of answers to creations for a model whose end is announced. */
const MODEL_END = ['Deprecation', 'Sunset'] as const;

type Answer = Operation['answer'];
/** 200 with a body of this schema, and one example. */
const answered = (description: string, schema: string, example: unknown): Answer => ({
  status: 200,
  description,
  schema: schemaRef(schema),
  examples: { example },
});
const accepted = (schema: string, queued: unknown): Answer => ({
  ...answered('Accepted. Of a repetition the first answer again.', schema, queued),
  status: 202,
  headers: ['Location', 'Retry-After', 'Idempotency-Replayed', ...MODEL_END],
});
/** 200 with a record, and an example of each status. */
const record = (schema: string, examples: Record<string, unknown>): Answer => ({
  status: 200,
  description: 'The record.',
  schema: schemaRef(schema),
  examples,
  headers: ['Retry-After-If-Unfinished'],
});

/** Every operation by the name of its route. */
export const OPERATIONS: Record<CallerEndpoint, Operation> = {
  'create-generation': {
    tag: 'Images',
    summary: 'Create images',
    description:
      'Debits the most that the request can deliver and accepts it. Read the record every 5 s until it is terminal, or give `webhookUrl`. With an `Idempotency-Key` it is safe to repeat for 24 h: the first answer comes again, without a second debit.',
    scope: 'generations:write',
    client: call('createImage', BODIES.images),
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: 'NewGeneration', example: BODIES.images },
    answer: accepted('QueuedImages', IMAGE_RECORDS.queued),
    refusals: CREATION_REFUSALS,
  },
  'list-generations': {
    tag: 'Images',
    summary: 'List requests for images',
    description: 'Newest first. Requests for videos are not in it.',
    scope: 'generations:read',
    client: call('listImages'),
    parameters: queries(REQUESTS_QUERIES.image),
    answer: answered('A page of records.', 'GenerationPage', ANSWERS.generations),
  },
  'get-generation': {
    tag: 'Images',
    summary: 'Read a request for images',
    description: 'Signs the URLs of its files anew. Never debits.',
    scope: 'generations:read',
    client: call('getImage', PATH_EXAMPLES.requestId),
    path: IMAGES,
    parameters: queries(RECORD_QUERY),
    answer: record('GenerationRecord', IMAGE_RECORDS),
    refusals: [404],
  },
  'delete-generation': {
    tag: 'Deletion',
    summary: 'Delete a request',
    description: 'Images or video, with its files. Nothing is ever cancelled: an unfinished request is 409.',
    scope: 'generations:write',
    client: call('deleteRequest', PATH_EXAMPLES.requestId),
    path: IMAGES,
    answer: answered('It is gone.', 'DeletedRequest', ANSWERS.deletedRequest),
    refusals: [404, 409],
  },
  'bulk-delete-generations': {
    tag: 'Deletion',
    summary: 'Delete many requests',
    description: 'Images and videos. No id fails the others. Safe to repeat.',
    scope: 'generations:write',
    client: call('deleteRequests', BODIES.bulkDelete.requestIds),
    body: { schema: 'BulkDelete', example: BODIES.bulkDelete },
    answer: answered('The outcome of each id.', 'BulkDeletion', ANSWERS.bulkDeletion),
  },
  'create-video': {
    tag: 'Videos',
    summary: 'Create a video',
    description:
      'As a creation of images. Reference videos are measured last, within 8 s, before anything is debited.',
    scope: 'generations:write',
    client: call('createVideo', BODIES.video),
    parameters: [IDEMPOTENCY_KEY],
    body: { schema: 'NewVideo', example: BODIES.video },
    answer: accepted('QueuedVideo', VIDEO_RECORDS.queued),
    refusals: CREATION_REFUSALS,
  },
  'create-quote': {
    tag: 'Balance',
    summary: 'Ask what a creation would cost',
    description:
      'Only where the operator publishes rates. Checked as a creation, reference videos measured as for one, and nothing is made or debited. A balance that does not suffice is `covered: false`; where reference videos or files of this service would have to be measured it is 402, as the creation would be.',
    scope: 'generations:write',
    client: call('quote', BODIES.quote),
    body: { schema: 'NewQuote', example: BODIES.quote },
    answer: { ...answered('The cost.', 'Quote', ANSWERS.quote), headers: MODEL_END },
    refusals: CREATION_REFUSALS,
  },
  'list-videos': {
    tag: 'Videos',
    summary: 'List requests for videos',
    description: 'Newest first. Requests for images are not in it.',
    scope: 'generations:read',
    client: call('listVideos'),
    parameters: queries(REQUESTS_QUERIES.video),
    answer: answered('A page of records.', 'VideoPage', ANSWERS.videos),
  },
  'get-video': {
    tag: 'Videos',
    summary: 'Read a request for a video',
    description:
      'Signs the URL of its file anew. Of an unfinished one it queries the provider, at most once in 10 s. Never debits.',
    scope: 'generations:read',
    client: call('getVideo', PATH_EXAMPLES.videoId),
    path: { requestId: PATH_EXAMPLES.videoId },
    parameters: queries(RECORD_QUERY),
    answer: record('VideoRecord', VIDEO_RECORDS),
    refusals: [404],
  },
  'create-upload': {
    tag: 'Files',
    summary: 'Upload a file',
    description:
      'Answers with a form. Send it by POST, its fields first and the file last, as `file`; then name the file by `url` wherever a creation takes a URL: only your account can, for two days, and nobody can fetch it there. Types that a model on offer takes; 402 with a balance of 0. 60 uploads an hour, and 16 more for each creation accepted in the hour.',
    scope: 'generations:write',
    client: call('createUpload', BODIES.upload),
    body: { schema: 'NewUpload', example: BODIES.upload },
    answer: { ...answered('The form, and the URL of the file.', 'Upload', ANSWERS.upload), status: 201 },
    refusals: [402],
  },
  'list-models': {
    tag: 'Models',
    summary: 'List the models',
    description:
      'Those that can be used right now, with every limit. Read it once per process. With `rate` where the operator publishes rates.',
    scope: 'models:read',
    client: call('listModels'),
    parameters: queryParameters(MODELS_QUERY, MODELS_NOTES),
    answer: answered('The models.', 'Models', ANSWERS.models),
  },
  'list-end-users': {
    tag: 'End-users',
    summary: 'List end-users',
    description: 'Newest first.',
    scope: 'end-users:read',
    client: call('listEndUsers'),
    parameters: queries(END_USERS_QUERY),
    answer: answered('A page of end-users.', 'EndUserPage', ANSWERS.endUsers),
  },
  'block-end-user': {
    tag: 'End-users',
    summary: 'Block an end-user',
    description:
      'Their creations are 403 from now on; work under way continues. Safe to repeat: it renews `blockedAt`.',
    scope: 'end-users:write',
    client: call('blockEndUser', PATH_EXAMPLES.email),
    path: END_USER,
    answer: answered('Blocked.', 'EndUserBlock', ANSWERS.blocked),
    refusals: [404],
  },
  'unblock-end-user': {
    tag: 'End-users',
    summary: 'Unblock an end-user',
    description: 'Safe to repeat.',
    scope: 'end-users:write',
    client: call('unblockEndUser', PATH_EXAMPLES.email),
    path: END_USER,
    answer: answered('Not blocked.', 'EndUserBlock', ANSWERS.unblocked),
    refusals: [404],
  },
  'get-end-user-budget': {
    tag: 'End-users',
    summary: "Read an end-user's budget",
    description: 'With what is spent of it. Without a budget, what the requests cost that are there.',
    scope: 'end-users:read',
    client: call('getBudget', PATH_EXAMPLES.email),
    path: END_USER,
    answer: answered('The budget.', 'EndUserBudget', ANSWERS.budget),
    refusals: [404],
  },
  'put-end-user-budget': {
    tag: 'End-users',
    summary: "Set an end-user's budget",
    description:
      'xTokens in a UTC day and in a calendar month; `null` or missing: any amount. A creation that would exceed it is 402, also among many at once. The first budget begins with what was spent so far. When the end-user creates all the time it may be 503: repeat it.',
    scope: 'end-users:write',
    client: call('setBudget', PATH_EXAMPLES.email, BODIES.budget),
    path: END_USER,
    body: { schema: 'Budget', example: BODIES.budget },
    answer: answered('The budget.', 'EndUserBudget', ANSWERS.budget),
    refusals: [404, 503],
  },
  'delete-end-user': {
    tag: 'End-users',
    summary: 'Delete an end-user',
    description:
      'With every request and file. With unfinished requests it is 409: block, wait, repeat. When one call cannot finish it is 503: repeat it until it is 200. Each call counts what it removed itself.',
    scope: 'end-users:write',
    client: call('deleteEndUser', PATH_EXAMPLES.email),
    path: END_USER,
    answer: answered('They are gone.', 'DeletedEndUser', ANSWERS.deletedEndUser),
    refusals: [404, 409, 503],
  },
  'get-balance': {
    tag: 'Balance',
    summary: 'Read the balance',
    description: 'Strongly consistent.',
    scope: 'balance:read',
    client: call('getBalance'),
    parameters: queryParameters(BALANCE_QUERY, BALANCE_NOTES),
    answer: answered('The balance.', 'Balance', ANSWERS.balance),
  },
  'list-balance-history': {
    tag: 'Balance',
    summary: 'List the changes of the balance',
    description: 'Newest first. Each entry has the balance after it.',
    scope: 'balance:read',
    client: call('listBalanceHistory'),
    parameters: queries(PAGE_QUERY),
    answer: answered('A page of entries.', 'BalanceHistoryPage', ANSWERS.balanceHistory),
  },
  'get-usage': {
    tag: 'Balance',
    summary: 'Read the usage',
    description:
      'Debits and refunds from one date to another (UTC, the last not included), together or by day, model, end-user and API key. Exact: the sums of the ledger. A refund counts on the day it was made.',
    scope: 'balance:read',
    client: call('getUsage', { from: '2026-11-01', to: '2026-12-01', by: ['model'] }),
    parameters: queries(USAGE_QUERY),
    answer: answered('The usage.', 'Usage', ANSWERS.usage),
  },
};
