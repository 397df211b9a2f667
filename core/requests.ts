import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ASPECT_RATIOS } from './catalog.ts';
import { ERROR_STATUS, type ErrorCode, type Failure, NotFoundError } from './errors.ts';
import { requestKey, requestListing, requestStatusListing } from './keys.ts';
import type { Thousandths } from './money.ts';
import { type StoredItem, type TransactItem, table, tableName } from './table.ts';
import type { Instant } from './time.ts';

/** One output's file, or the mark that it could not be stored. Sizes are of the stored bytes. */
export const StoredOutput = z.object({
  index: z.number(),
  objectKey: z.optional(z.string()),
  contentType: z.optional(z.string()),
  sizeBytes: z.optional(z.number()),
  width: z.optional(z.number()),
  height: z.optional(z.number()),
});
export type StoredOutput = z.infer<typeof StoredOutput>;

/** Statuses as stored. `expired` is not among them: it is what a succeeded request reads as from `expiresAt` on. */
export const STORED_STATUSES = ['queued', 'processing', 'succeeded', 'failed'] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];

const errorCodes = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/**
 * A request for images as stored: the one truth about it. `size` is a preset or `<width>x<height>`; `images`
 * is the most it can deliver and what was debited for; the price never changes after creation.
 */
export const ImageRequest = z.object({
  requestId: z.string(),
  accountId: z.string(),
  endUserEmail: z.string(),
  model: z.string(),
  prompt: z.string(),
  size: z.string(),
  aspectRatio: z.enum(ASPECT_RATIOS),
  images: z.number(),
  sequential: z.boolean(),
  references: z.array(z.string()),
  webhookUrl: z.optional(z.string()),
  unitPriceThousandths: z.number(),
  debitThousandths: z.number(),
  createdAt: z.string(),
  status: z.enum(STORED_STATUSES),
  outputs: z.optional(z.array(StoredOutput)),
  finishedAt: z.optional(z.string()),
  expiresAt: z.optional(z.string()),
  costThousandths: z.optional(z.number()),
  refundThousandths: z.optional(z.number()),
  error: z.optional(z.object({ code: z.enum(errorCodes), message: z.string() })),
  /** Epoch seconds from which the request reads as absent, and DynamoDB may sweep it. */
  ttl: z.optional(z.number()),
});
export type ImageRequest = z.infer<typeof ImageRequest>;

export const toImageRequest = (item: StoredItem): ImageRequest => ImageRequest.parse(item);

export const isTerminal = ({ status }: Pick<ImageRequest, 'status'>): boolean =>
  status === 'succeeded' || status === 'failed';

/** Access pattern 7: a request by id, strongly consistent; undefined when there is none. */
export const findRequest = async (requestId: string): Promise<ImageRequest | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: requestKey(requestId), ConsistentRead: true }),
  );
  return Item && toImageRequest(Item);
};

/** Access pattern 7, for whoever knows that it exists. Throws `NotFoundError`. */
export const getRequest = async (requestId: string): Promise<ImageRequest> => {
  const request = await findRequest(requestId);
  if (!request) throw new NotFoundError(`There is no request ${requestId}.`);
  return request;
};

/** Writes a new request; refused when its id is taken, which only its own earlier try can have done. */
export const insertRequestWrite = (request: ImageRequest): TransactItem => ({
  Put: {
    TableName: tableName(),
    Item: {
      ...requestKey(request.requestId),
      ...requestListing(request.accountId, request.endUserEmail),
      ...requestStatusListing(request.accountId, request.endUserEmail, request.status),
      ...request,
    },
    ConditionExpression: 'attribute_not_exists(PK)',
  },
});

/** Marks a queued request as handed to the provider. Harmless when it is already, or is terminal. */
export const markProcessing = async (request: ImageRequest): Promise<void> => {
  const status: StoredStatus = 'processing';
  const listing = requestStatusListing(request.accountId, request.endUserEmail, status);
  await updateUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: requestKey(request.requestId),
      ...setAll({ status, ...listing }, { ':queued': 'queued' }),
      ConditionExpression: '#status = :queued',
    }),
  );
};

/** The parts of an update that sets attributes, each under a placeholder of its own name. */
const setAll = (attributes: Record<string, unknown>, otherValues: Record<string, unknown>) => {
  const names = Object.keys(attributes);
  return {
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(names.map((name) => [`:${name}`, attributes[name]])),
      ...otherValues,
    },
  };
};

/** Records what became of each output, for settlement. Left alone when the request is terminal. */
export const recordOutputs = async (requestId: string, outputs: readonly StoredOutput[]): Promise<void> => {
  await updateUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: requestKey(requestId),
      UpdateExpression: 'SET outputs = :outputs',
      ConditionExpression: '#status = :processing',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':processing': 'processing', ':outputs': outputs },
    }),
  );
};

const updateUnlessRefused = async (command: UpdateCommand): Promise<void> => {
  try {
    await table.send(command);
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** How a request ended. */
export type Ending =
  | { status: 'succeeded'; costThousandths: Thousandths; expiresAt: Instant }
  | { status: 'failed'; error: Failure };

/** Claims a request's one ending: refused when it is terminal already, or gone. */
export const endRequestWrite = (
  request: ImageRequest,
  ending: Ending,
  settled: { finishedAt: Instant; refundThousandths: Thousandths; ttl: number },
): TransactItem => {
  const { status, ...own } = ending;
  const listing = requestStatusListing(request.accountId, request.endUserEmail, status);
  const unfinished = { ':queued': 'queued', ':processing': 'processing' };
  return {
    Update: {
      TableName: tableName(),
      Key: requestKey(request.requestId),
      ...setAll({ status, ...own, ...settled, ...listing }, unfinished),
      ConditionExpression: '#status IN (:queued, :processing)',
    },
  };
};

/**
 * Removes a terminal request. False when it was not there any more, or is not terminal: then nothing was
 * removed by this call.
 */
export const removeRequest = async (requestId: string): Promise<boolean> => {
  try {
    await table.send(
      new DeleteCommand({
        TableName: tableName(),
        Key: requestKey(requestId),
        ConditionExpression: '#status IN (:succeeded, :failed)',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':succeeded': 'succeeded', ':failed': 'failed' },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
