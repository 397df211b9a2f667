import type { Account } from '../core/accounts/accounts.ts';
import { type AccountRequestFilter, listRequestIdsOfAccount } from '../core/requests/account-requests.ts';
import {
  isTerminal,
  type RecordStatus,
  type StoredRequest,
  statusAt,
} from '../core/requests/request-rules.ts';
import { findRequests } from '../core/requests/requests.ts';
import { addSeconds, toInstant } from '../core/time.ts';
import { queuePositions } from './request-outlook.ts';

/** A request as a watch shows it. */
export interface WatchedRequest {
  requestId: string;
  accountId: string;
  model: string;
  createdAt: string;
  status: RecordStatus;
  /** Its position where it queues: `3 of 12`. */
  position?: string | undefined;
}

/** Number of accounts read in parallel. */
const PARALLEL_ACCOUNTS = 8;
/** The index lists a request a moment after it was created. */
const INDEX_DELAY_SECONDS = 10;
/** Ended requests that stay in view; the oldest leave. */
const MAX_ENDED = 500;

/**
 * Watches requests of the given accounts: the unfinished requests, and every request created since the first read,
 * even after its end. Each read returns the requests as of `now`, newest first. The first read covers the accounts'
 * whole lists, later reads only new requests and unfinished records.
 */
export const watchRequests = (
  accounts: () => Promise<readonly Pick<Account, 'accountId'>[]>,
  start: Date,
): ((now: Date) => Promise<WatchedRequest[]>) => {
  const known = new Map<string, StoredRequest>();
  let lookedAt: Date | undefined;
  return async (now) => {
    const createdFrom = addSeconds(toInstant(lookedAt ?? start), -INDEX_DELAY_SECONDS);
    const filters: AccountRequestFilter[] = [
      // Requests that were unfinished before are known from the first read.
      { state: 'unfinished', createdFrom: lookedAt === undefined ? undefined : createdFrom },
      // Also those that begin and end between two reads.
      { createdFrom: createdFrom > toInstant(start) ? createdFrom : toInstant(start) },
    ];
    const listed = await listIds(await accounts(), filters);
    const open = [...known.values()].filter((request) => !isTerminal(request));
    const ids = new Set([...listed, ...open.map(({ requestId }) => requestId)]);
    for (const id of ids) {
      const seen = known.get(id);
      if (seen && isTerminal(seen)) ids.delete(id);
    }
    const { requests } = await findRequests([...ids]);
    for (const id of ids) known.delete(id);
    for (const request of requests) known.set(request.requestId, request);
    lookedAt = now;
    const rows = [...known.values()].sort((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1));
    for (const { requestId } of rows.filter(isTerminal).slice(MAX_ENDED)) known.delete(requestId);
    const positions = await queuePositions(rows);
    return rows.map((request) => {
      const { requestId, accountId, model, createdAt } = request;
      return {
        requestId,
        accountId,
        model,
        createdAt,
        status: statusAt(request, now),
        position: positions.get(requestId),
      };
    });
  };
};

const sortKey = ({ createdAt, requestId }: StoredRequest): string => `${createdAt} ${requestId}`;

const collect = async (listed: AsyncIterable<string>): Promise<string[]> => {
  const ids: string[] = [];
  for await (const id of listed) ids.push(id);
  return ids;
};

const listIds = async (
  accounts: readonly Pick<Account, 'accountId'>[],
  filters: readonly AccountRequestFilter[],
): Promise<string[]> => {
  const ids: string[] = [];
  for (let start = 0; start < accounts.length; start += PARALLEL_ACCOUNTS) {
    const batch = accounts.slice(start, start + PARALLEL_ACCOUNTS);
    const lists = batch.flatMap(({ accountId }) =>
      filters.map((filter) => collect(listRequestIdsOfAccount(accountId, filter))),
    );
    ids.push(...(await Promise.all(lists)).flat());
  }
  return ids;
};
