import { findDeletedRequests } from '../requests/deleted-requests.ts';
import { AccountedRequest, withKnownStatus } from '../requests/request-rules.ts';
import { batchGetAll } from '../table/batches.ts';
import { requestKey } from '../table/keys.ts';
import type { RequestFate } from './ledger-rules.ts';

const ATTRIBUTES = Object.keys(AccountedRequest.shape);

/**
 * Access pattern 66: the amounts and fates of requests of an account, by id, strongly consistent. Deletions
 * are read after the requests: a request is removed and its deletion recorded in one transaction, so none is
 * missed.
 */
export const findRequestFates = async (
  accountId: string,
  requestIds: readonly string[],
): Promise<Map<string, RequestFate>> => {
  const fates = new Map<string, RequestFate>();
  const items = await batchGetAll(requestIds.map(requestKey), ATTRIBUTES);
  for (const [index, requestId] of requestIds.entries()) {
    const item = items[index];
    if (item) fates.set(requestId, { state: 'kept', request: AccountedRequest.parse(withKnownStatus(item)) });
  }
  const absent = requestIds.filter((requestId) => !fates.has(requestId));
  const deletions = await findDeletedRequests(absent.map((requestId) => ({ accountId, requestId })));
  for (const [index, requestId] of absent.entries()) {
    const deletion = deletions[index];
    fates.set(requestId, deletion ? { state: 'deleted', request: deletion.accounted } : { state: 'absent' });
  }
  return fates;
};
