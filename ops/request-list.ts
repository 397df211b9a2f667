import type { Account } from '../core/accounts/accounts.ts';
import {
  type AccountRequestFilter,
  listRequestIdsOfAccount,
  REQUEST_KINDS,
} from '../core/requests/account-requests.ts';
import {
  isRemoved,
  listedStateOf,
  type RecordStatus,
  type StoredRequest,
  statusAt,
} from '../core/requests/request-rules.ts';
import { findRequests } from '../core/requests/requests.ts';
import { addSeconds, type Instant, toInstant } from '../core/time.ts';

/** Filters of the list, all of which a request matches, and the page. */
export interface RequestSearch {
  status?: RecordStatus | undefined;
  olderThanSeconds?: number | undefined;
  /** Only requests created at this instant or after it. */
  since?: Instant | undefined;
  /** Part of the id. */
  id?: string | undefined;
  /** A normalized address. */
  endUser?: string | undefined;
  model?: string | undefined;
  /** The code of its error. */
  error?: string | undefined;
  /** Part of the prompt, ignoring case. */
  prompt?: string | undefined;
  limit: number;
  page: number;
}

/** Lists that are begun in parallel. */
const PARALLEL_LISTS = 16;
/** Records read at once. */
const AT_ONCE = 100;

/**
 * A page of the requests of these accounts that match, newest first, with their status at `now`. Reads the indexes and the records from the newest
 * on, until the page is full: a search that finds little reads all.
 */
export const searchRequests = async (
  accounts: readonly Pick<Account, 'accountId'>[],
  search: RequestSearch,
  now: Date,
  say: (text: string) => void = () => undefined,
): Promise<{ requests: StoredRequest[]; hasMore: boolean }> => {
  const end = search.page * search.limit;
  const found: StoredRequest[] = [];
  let read = 0;
  const take = async (ids: readonly string[]): Promise<void> => {
    const { requests } = await findRequests(ids);
    found.push(...requests.filter((request) => matches(request, search, now)));
    read += ids.length;
    say(`${found.length} found among the newest ${read.toLocaleString('en')} requests`);
  };
  let batch: string[] = [];
  for await (const id of newestFirst(await openLists(accounts, search, now))) {
    if (search.id !== undefined && !id.toUpperCase().includes(search.id.toUpperCase())) continue;
    batch.push(id);
    if (batch.length < Math.min(AT_ONCE, end + 1)) continue;
    await take(batch);
    batch = [];
    if (found.length > end) break;
  }
  if (batch.length > 0) await take(batch);
  return { requests: found.slice(end - search.limit, end), hasMore: found.length > end };
};

const matches = (
  request: StoredRequest,
  { status, model, error, prompt }: RequestSearch,
  now: Date,
): boolean =>
  !isRemoved(request, now) &&
  (status === undefined || statusAt(request, now) === status) &&
  (model === undefined || request.model === model) &&
  (error === undefined || request.error?.code === error) &&
  (prompt === undefined || request.prompt.toLowerCase().includes(prompt.toLowerCase()));

/** Ids of the requests of these accounts within a time, newest first, read from the indexes as they are consumed. */
export const newestRequestIds = async function* (
  accounts: readonly Pick<Account, 'accountId'>[],
  search: Pick<RequestSearch, 'since' | 'limit' | 'page'>,
  now: Date,
): AsyncGenerator<string> {
  yield* newestFirst(await openLists(accounts, search, now));
};

/** A list of ids, newest first, by its next one. */
interface OpenList {
  id: string;
  rest: AsyncGenerator<string>;
}

/** The lists of all accounts, one of each kind; without those that are empty. */
const openLists = async (
  accounts: readonly Pick<Account, 'accountId'>[],
  { status, olderThanSeconds, since, endUser, error, limit, page }: RequestSearch,
  now: Date,
): Promise<OpenList[]> => {
  const filter: AccountRequestFilter = {
    state: error === undefined ? status && listedStateOf(status) : 'failed',
    createdUntil: olderThanSeconds === undefined ? undefined : addSeconds(toInstant(now), -olderThanSeconds),
    createdFrom: since,
    endUserEmail: endUser,
  };
  const generators = accounts.flatMap(({ accountId }) =>
    REQUEST_KINDS.map((kind) => listRequestIdsOfAccount(accountId, { ...filter, kind }, page * limit + 1)),
  );
  const lists: OpenList[] = [];
  for (let start = 0; start < generators.length; start += PARALLEL_LISTS) {
    const opened = generators.slice(start, start + PARALLEL_LISTS).map(async (rest) => {
      const { value, done } = await rest.next();
      return done ? [] : [{ id: value, rest }];
    });
    lists.push(...(await Promise.all(opened)).flat());
  }
  return lists;
};

/** The part of an id that sorts by time. */
const timeOf = (id: string): string => id.slice(id.indexOf('_') + 1);

/** The ids of all lists, newest first, read as they are consumed. */
const newestFirst = async function* (lists: readonly OpenList[]): AsyncGenerator<string> {
  // Oldest first, so that the newest is taken from the end.
  const open = lists.toSorted((a, b) => (timeOf(a.id) < timeOf(b.id) ? -1 : 1));
  for (let list = open.pop(); list; list = open.pop()) {
    yield list.id;
    const { value, done } = await list.rest.next();
    if (done) continue;
    const index = open.findLastIndex(({ id }) => timeOf(id) < timeOf(value)) + 1;
    open.splice(index, 0, { id: value, rest: list.rest });
  }
};
