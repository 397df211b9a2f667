import * as z from 'zod/mini';
import { readable } from '../observability.ts';
import { findDeletionMarks } from '../requests/deleted-requests.ts';
import { AccountedRequest, withKnownStatus } from '../requests/request-rules.ts';
import { requestKey } from '../table/keys.ts';
import { batchGet, type StoredItem } from '../table/table.ts';

const ATTRIBUTES = Object.keys(AccountedRequest.shape);

/**
 * Access pattern 16: the amounts and states of requests of an account, by different ids, strongly consistent: of kept ones, and of deleted ones
 * by their marks. Marks are read after the requests: a request is removed and its mark written in one transaction, so none is missed. Leaves
 * out absent requests, those of other accounts, and those that cannot be read.
 */
export const findAccountedRequests = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, AccountedRequest>> => {
  const found = new Map<string, AccountedRequest>();
  const add = (requestId: string, item: StoredItem | undefined): void => {
    const parse = (one: StoredItem) => AccountedRequest.parse(withKnownStatus(one));
    const [request] = readable(item ? [item] : [], parse, () => requestId);
    if (request?.accountId === accountId) found.set(requestId, request);
  };
  const items = await batchGet(requestIds.map(requestKey), ATTRIBUTES);
  for (const [index, requestId] of requestIds.entries()) add(requestId, items[index]);
  const absent = requestIds.filter((_, index) => items[index] === undefined);
  const marks = await findDeletionMarks(absent.map((requestId) => ({ accountId, requestId })));
  for (const [index, requestId] of absent.entries()) {
    const mark = marks[index];
    if (mark) add(requestId, (mark.accounted ?? {}) as StoredItem);
  }
  return found;
};

/** What a request used, and of whom. */
const RequestUsage = z.object({
  model: z.string(),
  endUserId: z.string(),
  createdAt: z.string(),
  debitThousandths: z.number(),
  refundThousandths: z.optional(z.number()),
});
type RequestUsage = z.infer<typeof RequestUsage>;

/** Access pattern 16: model, end-user and amounts of requests of an account, by id, strongly consistent. Those that are gone, or cannot be read, are left out. */
export const findUsageOfRequests = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, RequestUsage>> => {
  const ids = [...new Set(requestIds)];
  const items = await batchGet(ids.map(requestKey), ['accountId', ...Object.keys(RequestUsage.shape)]);
  return new Map(
    ids.flatMap((id, index) => {
      const item = items[index];
      const own = item?.accountId === accountId ? [item] : [];
      return readable(
        own,
        (one) => [id, RequestUsage.parse(one)] as const,
        () => id,
      );
    }),
  );
};
