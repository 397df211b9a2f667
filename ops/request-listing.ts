import type { Account } from '../core/accounts/accounts.ts';
import { type AccountRequestFilter, listRequestIdsOfAccount } from '../core/requests/account-requests.ts';
import {
  isRemoved,
  type RecordStatus,
  type StoredRequest,
  statusAt,
} from '../core/requests/request-rules.ts';
import { findRequests } from '../core/requests/requests.ts';
import { addSeconds, toInstant } from '../core/time.ts';

/** Which requests are wanted; each part narrows the list down. */
export interface RequestListFilter {
  status: RecordStatus | undefined;
  olderThanSeconds: number | undefined;
}

/** How many accounts are read at once. */
const ACCOUNTS_AT_ONCE = 8;

/** The requests of these accounts as they read at `now`, newest first. Reads the index of each account, and every record it names. */
export const listRequestsOf = async (
  accounts: readonly Pick<Account, 'accountId'>[],
  filter: RequestListFilter,
  now: Date,
): Promise<StoredRequest[]> => {
  const found: StoredRequest[] = [];
  for (let start = 0; start < accounts.length; start += ACCOUNTS_AT_ONCE) {
    const some = accounts.slice(start, start + ACCOUNTS_AT_ONCE);
    const lists = await Promise.all(some.map(({ accountId }) => listOfAccount(accountId, filter, now)));
    found.push(...lists.flat());
  }
  const place = ({ createdAt, requestId }: StoredRequest): string => `${createdAt} ${requestId}`;
  return found.sort((a, b) => (place(a) < place(b) ? 1 : -1));
};

const listOfAccount = async (
  accountId: string,
  { status, olderThanSeconds }: RequestListFilter,
  now: Date,
): Promise<StoredRequest[]> => {
  const stored: AccountRequestFilter = {
    status: status === 'expired' ? 'succeeded' : status,
    createdUntil: olderThanSeconds === undefined ? undefined : addSeconds(toInstant(now), -olderThanSeconds),
  };
  const requestIds: string[] = [];
  for await (const requestId of listRequestIdsOfAccount(accountId, stored)) requestIds.push(requestId);
  const requests = await findRequests(requestIds);
  return requests
    .filter((request) => request !== undefined)
    .filter((request) => !isRemoved(request, now))
    .filter((request) => status === undefined || statusAt(request, now) === status);
};
