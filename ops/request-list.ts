import type { Account } from '../core/accounts/accounts.ts';
import { type AccountRequestFilter, listRequestIdsOfAccount } from '../core/requests/account-requests.ts';
import {
  isRemoved,
  listedStateOf,
  type RecordStatus,
  type StoredRequest,
  statusAt,
} from '../core/requests/request-rules.ts';
import { findRequests } from '../core/requests/requests.ts';
import { addSeconds, toInstant } from '../core/time.ts';

/** Filters of the list; a request must match all that are given. */
export interface RequestListFilter {
  status: RecordStatus | undefined;
  olderThanSeconds: number | undefined;
}

/** Number of accounts read in parallel. */
const PARALLEL_ACCOUNTS = 8;

/** The requests of these accounts, newest first, with their status at `now`. Reads each account's index and the records that may match. */
export const listRequestsOf = async (
  accounts: readonly Pick<Account, 'accountId'>[],
  filter: RequestListFilter,
  now: Date,
  say: (text: string) => void = () => undefined,
): Promise<StoredRequest[]> => {
  const found: StoredRequest[] = [];
  for (let start = 0; start < accounts.length; start += PARALLEL_ACCOUNTS) {
    say(`${found.length} found, ${accounts.length - start} of ${accounts.length} accounts left`);
    const batch = accounts.slice(start, start + PARALLEL_ACCOUNTS);
    const lists = await Promise.all(batch.map(({ accountId }) => listOfAccount(accountId, filter, now)));
    found.push(...lists.flat());
  }
  const sortKey = ({ createdAt, requestId }: StoredRequest): string => `${createdAt} ${requestId}`;
  return found.sort((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1));
};

const listOfAccount = async (
  accountId: string,
  { status, olderThanSeconds }: RequestListFilter,
  now: Date,
): Promise<StoredRequest[]> => {
  const stored: AccountRequestFilter = {
    state: status && listedStateOf(status),
    createdUntil: olderThanSeconds === undefined ? undefined : addSeconds(toInstant(now), -olderThanSeconds),
  };
  const requestIds: string[] = [];
  for await (const requestId of listRequestIdsOfAccount(accountId, stored)) requestIds.push(requestId);
  const { requests } = await findRequests(requestIds);
  return requests
    .filter((request) => !isRemoved(request, now))
    .filter((request) => status === undefined || statusAt(request, now) === status);
};
