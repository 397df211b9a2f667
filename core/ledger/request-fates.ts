import * as z from 'zod/mini';
import { readable } from '../readable.ts';
import { findDeletedRequests } from '../requests/deleted-requests.ts';
import { AccountedRequest, withKnownStatus } from '../requests/request-rules.ts';
import { batchGetAll } from '../table/batches.ts';
import { requestKey } from '../table/keys.ts';
import type { RequestFate } from './ledger-rules.ts';

const ATTRIBUTES = Object.keys(AccountedRequest.shape);

/**
 * Access pattern 66: the amounts and fates of requests of an account, by id, strongly consistent. Deletions
 * are read after the requests: a request is removed and its deletion recorded in one transaction, so none is
 * missed. A request that cannot be read counts as absent.
 */
export const findRequestFates = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, RequestFate>> => {
  const fates = new Map<string, RequestFate>();
  const items = await batchGetAll(requestIds.map(requestKey), ATTRIBUTES);
  for (const [index, requestId] of requestIds.entries()) {
    const item = items[index];
    const [request] = readable(
      item ? [item] : [],
      (one) => AccountedRequest.parse(withKnownStatus(one)),
      () => requestId,
    );
    if (request) fates.set(requestId, { state: 'kept', request });
  }
  const absent = requestIds.filter((requestId) => !fates.has(requestId));
  const deletions = await findDeletedRequests(absent.map((requestId) => ({ accountId, requestId })));
  for (const [index, requestId] of absent.entries()) {
    const deletion = deletions[index];
    fates.set(requestId, deletion ? { state: 'deleted', request: deletion.accounted } : { state: 'absent' });
  }
  return fates;
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

/** Access pattern 117: model, end-user and amounts of requests of an account, by id, strongly consistent. Those that are gone, or cannot be read, are left out. */
export const findUsageOfRequests = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, RequestUsage>> => {
  const ids = [...new Set(requestIds)];
  const items = await batchGetAll(ids.map(requestKey), ['accountId', ...Object.keys(RequestUsage.shape)]);
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
