import { createHash } from 'node:crypto';
import { encodeTime } from 'ulid';
import type { CountedList, ListView } from '../lists/counted-list.ts';
import { VISIBLE_AFTER_SECONDS } from '../lists/counted-ranges.ts';
import { matchingEntries } from '../lists/list-entries.ts';
import { batchGet } from '../table/batches.ts';
import { PRIMARY_KEY, REQUEST_INDEXES, requestKey, requestListing, requestPartition } from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { queryAll } from '../table/queries.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import {
  countEntries,
  IndexEntry,
  isListed,
  listedOf,
  NEWEST_IMAGE,
  OLDEST_IMAGE,
  partOfPosition,
  REQUEST_LISTS,
  type RequestCounts,
} from './request-list-rules.ts';
import {
  isRemoved,
  listedState,
  listedStateOf,
  type RecordStatus,
  type StoredRequest,
  statusAt,
} from './request-rules.ts';
import { toRequest } from './requests.ts';

/** Limits a list of an account's requests; absent fields do not limit it. */
export interface RequestFilter {
  endUserEmail?: string | undefined;
  status?: RecordStatus | undefined;
  /** Only requests strictly newer than this. */
  createdAfter?: Instant | undefined;
}

/**
 * Access pattern 25: a page of an account's image requests, newest first, by any combination of filters.
 * Reads an index up to the page's end, passing over what was counted before, then the page's requests by key. An early page takes
 * two sequential calls. An entry does not tell queued from processing: for these, the requests are read up to the page's
 * end. `hasMore` is exact. The index is eventually consistent; the requests are strongly consistent and filtered by how they
 * read at `now`.
 */
export const listImageRequests = async (
  accountId: string,
  filter: RequestFilter,
  page: PageRequest,
  now: Date,
): Promise<Page<StoredRequest>> => {
  const skip = (page.page - 1) * page.pageSize;
  const end = skip + page.pageSize;
  if (filter.status !== undefined && listedStateOf(filter.status) === 'unfinished') {
    const requests = await readUnfinished(accountId, filter, end + 1, now);
    return pageOf(requests.slice(skip, end), page, requests.length > end);
  }
  const wanted = page.pageSize + 1;
  const entries: IndexEntry[] = [];
  for await (const entry of entriesOf(accountId, filter, { skip, wanted }, now)) {
    entries.push(entry);
    if (entries.length === wanted) break;
  }
  const requests = await readRequests(entries.slice(0, page.pageSize), filter, now);
  return pageOf(requests, page, entries.length > page.pageSize);
};

/** The newest unfinished requests with the filter's status, at most `wanted`. */
const readUnfinished = async (
  accountId: string,
  filter: RequestFilter,
  wanted: number,
  now: Date,
): Promise<StoredRequest[]> => {
  const requests: StoredRequest[] = [];
  let batch: IndexEntry[] = [];
  const readBatch = async (): Promise<void> => {
    requests.push(...(await readRequests(batch, filter, now)));
    batch = [];
  };
  for await (const entry of entriesOf(accountId, filter, { skip: 0, wanted }, now)) {
    batch.push(entry);
    if (batch.length >= Math.min(MAX_BATCH, Math.max(MIN_BATCH, wanted - requests.length))) await readBatch();
    if (requests.length >= wanted) break;
  }
  await readBatch();
  return requests.slice(0, wanted);
};
/** Unfinished requests are read so many at a time: what is wanted, within these bounds. */
const MIN_BATCH = 20;
const MAX_BATCH = 100;

/** The requests of these entries that match the filter at `now`. At most 100. */
const readRequests = async (
  entries: readonly IndexEntry[],
  { status }: RequestFilter,
  now: Date,
): Promise<StoredRequest[]> => {
  const items = await batchGet(entries.map(({ PK }) => ({ ...requestKey(''), PK })));
  return items
    .filter((item): item is StoredItem => item !== undefined)
    .map(toRequest)
    .filter((request) => !isRemoved(request, now))
    .filter((request) => status === undefined || statusAt(request, now) === status);
};

/** The entries that match as far as they tell, newest first, read as they are consumed. */
const entriesOf = (
  accountId: string,
  { endUserEmail, status, createdAfter }: RequestFilter,
  wants: { skip: number; wanted: number },
  now: Date,
): AsyncGenerator<IndexEntry> => {
  const view: ListView<IndexEntry, RequestCounts> = {
    oldest: newerThan(createdAfter),
    ...(status !== undefined && { entriesPerMatch: 1 }),
    matches: (entry) => isListed(entry, status, now),
    matching: (counts) => listedOf(counts, status, now),
  };
  return matchingEntries(imageList(accountId, endUserEmail, now), view, wants, now);
};

/** The position after which images created after an instant are. */
const newerThan = (createdAfter: Instant | undefined): string => {
  const time = createdAfter === undefined ? -1 : Date.parse(createdAfter);
  // A ULID cannot hold a time before the epoch: every id is newer.
  return time < 0 ? OLDEST_IMAGE : `${OLDEST_IMAGE}${encodeTime(time, 10)}${'Z'.repeat(16)}`;
};

const imageList = (
  accountId: string,
  email: string | undefined,
  now: Date,
): CountedList<IndexEntry, RequestCounts> => {
  const { byAccount, byEndUser } = REQUEST_INDEXES;
  const listing = requestListing(accountId, email ?? '');
  const settledUntil = OLDEST_IMAGE + encodeTime(now.getTime() - VISIBLE_AFTER_SECONDS * 1_000, 10);
  return {
    accountId,
    // A count may outlive its end-user, so its key does not hold the address.
    name: email === undefined ? 'ALL' : createHash('sha256').update(email).digest('hex'),
    index: { ...(email === undefined ? byAccount : byEndUser), sort: PRIMARY_KEY.partition },
    partition: email === undefined ? listing.GSI2PK : listing.GSI3PK,
    bottom: OLDEST_IMAGE,
    top: NEWEST_IMAGE,
    toEntry: (item) => IndexEntry.parse(item),
    positionOf: ({ PK }) => PK,
    isSettled: (entry) => listedState(entry) !== 'unfinished' && entry.PK < settledUntil,
    count: (entries) => countEntries(entries, now),
    kind: REQUEST_LISTS,
    partOf: partOfPosition,
  };
};

/**
 * Access pattern 27: ids of an end-user's requests, videos before images, newest first in each. Eventually
 * consistent.
 */
export const listRequestIdsOfEndUser = async function* (
  accountId: string,
  email: string,
): AsyncGenerator<string> {
  const { name, partition } = REQUEST_INDEXES.byEndUser;
  const query = {
    TableName: tableName(),
    IndexName: name,
    KeyConditionExpression: '#partition = :partition',
    ExpressionAttributeNames: { '#partition': partition },
    ExpressionAttributeValues: { ':partition': requestListing(accountId, email).GSI3PK },
    ScanIndexForward: false,
  };
  for await (const item of queryAll(query)) {
    yield IndexEntry.parse(item).PK.slice(requestPartition('').length);
  }
};
