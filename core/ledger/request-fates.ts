import * as z from 'zod/mini';
import { readable } from '../observability.ts';
import { findDeletionMarks } from '../requests/deleted-requests.ts';
import { AccountedRequest, withKnownStatus } from '../requests/request-rules.ts';
import { requestKey } from '../table/keys.ts';
import { batchGet, type StoredItem } from '../table/table.ts';

/**
 * Access pattern 16: the amounts and states of an account's requests by distinct ids, strongly consistent, from the records or
 * the deletion marks. Marks are read after the records: removal and mark are one transaction, so no request is missed. Leaves out
 * requests that are absent, unreadable or of another account.
 */
export const findAccountedRequests = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, AccountedRequest>> => {
  const items = await batchGet(requestIds.map(requestKey), Object.keys(AccountedRequest.shape));
  const absent = requestIds.filter((_, index) => items[index] === undefined);
  const marks = await findDeletionMarks(absent.map((requestId) => ({ accountId, requestId })));
  const deleted = marks.map((mark) => mark && ((mark.accounted ?? {}) as StoredItem));
  const parse = (item: StoredItem) => AccountedRequest.parse(withKnownStatus(item));
  return new Map([
    ...ownAmong(accountId, requestIds, items, parse),
    ...ownAmong(accountId, absent, deleted, parse),
  ]);
};

/** The model, end-user and key of a request's usage. */
const RequestUsage = z.object({
  accountId: z.string(),
  model: z.string(),
  endUserId: z.string(),
  createdAt: z.string(),
  debitThousandths: z.number(),
  refundThousandths: z.optional(z.number()),
});
type RequestUsage = z.infer<typeof RequestUsage>;

/** Access pattern 16: model, end-user and amounts of requests of an account, by id, strongly consistent. Leaves out the same as `findAccountedRequests`, and deleted ones. */
export const findUsageOfRequests = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, RequestUsage>> => {
  const ids = [...new Set(requestIds)];
  const items = await batchGet(ids.map(requestKey), Object.keys(RequestUsage.shape));
  return new Map(ownAmong(accountId, ids, items, (item) => RequestUsage.parse(item)));
};

/** The requests of an account among these items, each with its id. */
const ownAmong = <Request extends { accountId: string }>(
  accountId: string,
  ids: readonly string[],
  items: readonly (StoredItem | undefined)[],
  parse: (item: StoredItem) => Request,
): [id: string, request: Request][] =>
  ids.flatMap((id, index) => {
    const item = items[index];
    const [request] = readable(item ? [item] : [], parse, () => id);
    return request?.accountId === accountId ? [[id, request]] : [];
  });
