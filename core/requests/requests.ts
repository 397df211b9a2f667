import { type Failure, NotFoundError } from '../errors.ts';
import type { Thousandths } from '../money.ts';
import { readable } from '../observability.ts';
import {
  type DueList,
  dueListing,
  dueListPrefix,
  requestKey,
  requestListing,
  requestPartition,
} from '../table/keys.ts';
import {
  batchGet,
  getItem,
  putWrite,
  type StoredItem,
  setAll,
  type UpdateParts,
  updateOf,
  updateWrite,
} from '../table/table.ts';
import { type TransactItem, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import {
  type Assignment,
  type ProviderCost,
  type StoredOutput,
  StoredRequest,
  type StoredStatus,
  withKnownStatus,
} from './request-rules.ts';

/**
 * A request from a stored item. Throws when the item is malformed or names another request: a role that may write the `requestId`
 * of an attempt can also write the `requestId` of the request.
 */
export const toRequest = (item: StoredItem): StoredRequest => {
  const request = StoredRequest.parse(withKnownStatus(item));
  if (item.PK !== requestPartition(request.requestId)) throw new Error(`${item.PK} names another request.`);
  return request;
};

/** Access pattern 16: a request by id, strongly consistent; undefined when there is none. */
export const findRequest = async (requestId: string): Promise<StoredRequest | undefined> => {
  const item = await getItem(requestKey(requestId));
  return item && toRequest(item);
};

/** Like `findRequest`. Throws `NotFoundError` when there is none. */
export const getRequest = async (requestId: string): Promise<StoredRequest> => {
  const request = await findRequest(requestId);
  if (!request) throw new NotFoundError(`There is no request ${requestId}.`);
  return request;
};

/**
 * Access pattern 16: any number of requests by id, strongly consistent, in the order of the ids, without those that are absent.
 * `unreadable` are the ids of those that cannot be read, which is logged and counted: they are not absent.
 */
export const findRequests = async (
  requestIds: readonly string[],
): Promise<{ requests: StoredRequest[]; unreadable: string[] }> => {
  const items = await batchGet(requestIds.map(requestKey));
  const stored = items.filter((item) => item !== undefined);
  const requests = readable(stored, toRequest, ({ PK }) => String(PK));
  const read = new Set(requests.map(({ requestId }) => requestPartition(requestId)));
  const unread = stored.filter(({ PK }) => !read.has(String(PK)));
  return { requests, unreadable: unread.map(({ PK }) => String(PK).slice(requestPartition('').length)) };
};

/**
 * A creation starts its execution within 29 s, the time limit of an API call. With the minute between two runs of the
 * reconciler, a request that was not started is found 105 s after its creation: the promise is 120 s.
 */
const START_WITHIN_SECONDS = 45;

/**
 * Access pattern 15: inserts a request. Refused when its id is taken, which only an earlier attempt of this
 * write can cause.
 */
export const insertRequestWrite = (request: StoredRequest): TransactItem =>
  putWrite(
    {
      ...requestKey(request.requestId),
      ...requestListing(request.accountId, request.endUserEmail),
      ...dueListing('START', request.requestId, addSeconds(request.createdAt, START_WITHIN_SECONDS)),
      ...request,
    },
    {
      ConditionExpression: 'attribute_not_exists(PK)',
    },
  );

/** Updates a request. False when the condition refuses. */
const updateRequest = (requestId: string, expressions: UpdateParts): Promise<boolean> =>
  writeUnlessRefused(updateOf(requestKey(requestId), expressions));

/** Sets attributes of a request while it has this status and `andIf` holds. Otherwise false. */
const setWhile = (
  requestId: string,
  status: StoredStatus,
  attributes: Record<string, unknown>,
  andIf = '',
): Promise<boolean> => {
  const update = setAll(attributes, { ':was': status });
  return updateRequest(requestId, {
    ...update,
    ConditionExpression: `#status = :was${andIf}`,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#status': 'status' },
  });
};

/**
 * Access pattern 21: marks a queued request as processing, and sets its next due time if that is to change.
 * Does nothing in any other status.
 */
export const markProcessing = async ({ requestId }: StoredRequest, checkAt?: Instant): Promise<void> => {
  const status: StoredStatus = 'processing';
  await setWhile(requestId, 'queued', { status, ...(checkAt && dueListing('CHECK', requestId, checkAt)) });
};

/** Access pattern 21: sets the next due time of a queued request that has or had an execution. False in any other status. */
export const checkQueuedAt = (requestId: string, checkAt: Instant): Promise<boolean> =>
  setWhile(requestId, 'queued', dueListing('CHECK', requestId, checkAt));

/**
 * Access pattern 21: assigns an unfinished request a route, and returns the assignment. Undefined when the request has ended, or when another
 * run has assigned it a route, or claimed calls, since it was read.
 */
export const assignRoute = async (
  { requestId, assignment: before, formerRoutes = [] }: StoredRequest,
  route: string,
): Promise<Assignment | undefined> => {
  const assignment = { route, number: (before?.number ?? 0) + 1 };
  const former = before ? [...new Set([...formerRoutes, before.route])].filter((one) => one !== route) : [];
  const update = setAll(
    { assignment, formerRoutes: former },
    {
      ':queued': 'queued',
      ':processing': 'processing',
      ...(before && { ':wasNumber': before.number }),
      ...(before?.claimId !== undefined && { ':wasClaim': before.claimId }),
    },
  );
  const claim =
    before?.claimId === undefined
      ? 'attribute_not_exists(#assignment.claimId)'
      : '#assignment.claimId = :wasClaim';
  const isUnchanged = before
    ? `#assignment.#number = :wasNumber AND ${claim}`
    : 'attribute_not_exists(#assignment)';
  const isAssigned = await updateRequest(requestId, {
    ...update,
    ConditionExpression: `#status IN (:queued, :processing) AND ${isUnchanged}`,
    ExpressionAttributeNames: {
      ...update.ExpressionAttributeNames,
      '#status': 'status',
      ...(before && { '#number': 'number' }),
    },
  });
  return isAssigned ? assignment : undefined;
};

/**
 * Access pattern 22: records the outputs to settle by. Only the first recording counts. False when outputs
 * are already recorded, or the request is not processing. Also records that its permit is released.
 */
export const recordOutputs = (
  requestId: string,
  outputs: readonly StoredOutput[],
  permitReleased = false,
): Promise<boolean> =>
  setWhile(requestId, 'processing', { outputs, ...(permitReleased && { permitReleased }) }, NO_OUTPUTS);

/**
 * Access pattern 22: keeps the progress of storing for the next attempt: the start of the first attempt, and the outputs stored
 * so far, at least one if given. False as for `recordOutputs`.
 */
export const keepStoring = (
  requestId: string,
  progress: { storedSoFar?: readonly StoredOutput[]; storingSince: Instant },
): Promise<boolean> => setWhile(requestId, 'processing', progress, NO_OUTPUTS);

const NO_OUTPUTS = ' AND attribute_not_exists(outputs)';
/** That no output has a file, as far as a request knows. */
const NOTHING_STORED = `${NO_OUTPUTS} AND attribute_not_exists(storedSoFar)`;

/**
 * That a request has not been refunded: every end writes `refundThousandths`. Roles that call providers can write a status but
 * not this attribute, so a request with a forged status is not refunded again.
 */
const NEVER_ENDED = ' AND attribute_not_exists(refundThousandths)';

export type TerminalState =
  | { status: 'succeeded'; costThousandths: Thousandths; expiresAt: Instant; reportedSeed?: number }
  | { status: 'failed'; error: Failure };

/** The record of a request's end, besides its state. */
export interface Settlement {
  finishedAt: Instant;
  refundThousandths: Thousandths;
  /** The ledger entry of the refund, if there is a refund. */
  refundEntryNumber?: number;
  ttl: number;
  operatorNote?: string;
  providerCosts?: ProviderCost[];
}

/** The due list and due time of an ended request's follow-up work. */
export interface FollowUp {
  list: DueList;
  dueAt: Instant;
}

/**
 * Access pattern 23: moves a request to its terminal state, and lists it for what follows, if anything does.
 * Refused when it is absent, terminal, or was terminal before; with `unlessStored`, also when it has outputs, and the refusal then
 * has the item.
 */
export const endRequestWrite = (
  request: StoredRequest,
  state: TerminalState,
  settlement: Settlement,
  { follows, unlessStored = false }: { follows: FollowUp | undefined; unlessStored?: boolean },
): TransactItem => {
  const { status, ...own } = state;
  const unfinished = { ':queued': 'queued', ':processing': 'processing' };
  const due = follows ? dueListing(follows.list, request.requestId, follows.dueAt) : {};
  const update = setAll({ status, ...own, ...settlement, ...due }, unfinished);
  // No claim of an ended request is compared any more, and every write of the item pays for its size.
  const removed = [
    ...(request.assignment ? ['assignment.claimId'] : []),
    ...(follows ? [] : ['GSI1PK', 'GSI1SK']),
  ];
  return updateWrite(requestKey(request.requestId), {
    ...update,
    UpdateExpression: `${update.UpdateExpression}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`,
    ConditionExpression: `#status IN (:queued, :processing)${NEVER_ENDED}${unlessStored ? NOTHING_STORED : ''}`,
    ...(unlessStored && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
  });
};

/**
 * Access pattern 24: marks a request's files as removed, and takes the request off the `EXPIRE` list. False when the request is
 * not listed, not expired, or absent.
 */
export const markExpired = (requestId: string, now: Date): Promise<boolean> =>
  updateRequest(requestId, {
    UpdateExpression: 'SET expiredAt = :now REMOVE GSI1PK, GSI1SK, removalFailures',
    ConditionExpression: 'begins_with(GSI1PK, :listed) AND expiresAt <= :now',
    ExpressionAttributeValues: { ':listed': dueListPrefix('EXPIRE'), ':now': toInstant(now) },
  });

/**
 * Access pattern 24: lists a request whose files could not be removed for another attempt, the `failures`-th
 * having failed. False if another attempt has expired or rescheduled it since it was read.
 */
export const postponeExpiry = (
  { requestId, GSI1SK: seenAt }: Pick<StoredRequest, 'requestId' | 'GSI1SK'>,
  dueAt: Instant,
  failures: number,
): Promise<boolean> =>
  updateRequest(requestId, {
    UpdateExpression: 'SET GSI1SK = :dueAt, removalFailures = :failures',
    ConditionExpression: 'begins_with(GSI1PK, :listed) AND GSI1SK = :seenAt',
    ExpressionAttributeValues: {
      ':listed': dueListPrefix('EXPIRE'),
      ':seenAt': seenAt,
      ':dueAt': dueAt,
      ':failures': failures,
    },
  });

/**
 * Access pattern 24: takes a terminal request off the `CHECK` list, once all follow-up work is started. A
 * successful one, which alone has an `expiresAt`, moves to the `EXPIRE` list. False when it is not on the `CHECK` list, or absent.
 */
export const closeWork = ({
  requestId,
  expiresAt,
}: Pick<StoredRequest, 'requestId' | 'expiresAt'>): Promise<boolean> => {
  const ConditionExpression = 'begins_with(#GSI1PK, :listed)';
  const listed = { ':listed': dueListPrefix('CHECK') };
  if (expiresAt !== undefined) {
    const move = setAll(dueListing('EXPIRE', requestId, expiresAt), listed);
    return updateRequest(requestId, { ...move, ConditionExpression });
  }
  return updateRequest(requestId, {
    UpdateExpression: 'REMOVE #GSI1PK, GSI1SK',
    ConditionExpression,
    ExpressionAttributeNames: { '#GSI1PK': 'GSI1PK' },
    ExpressionAttributeValues: listed,
  });
};
