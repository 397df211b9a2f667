import type { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX } from '../ids.ts';
import { batchGet } from '../table/batches.ts';
import { REQUEST_INDEXES, requestKey, requestListing, requestPartition } from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { FILTERED_FIRST_LIMIT, queryAll } from '../table/queries.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
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

/** A request in an index. */
const IndexEntry = z.object({
  PK: z.string(),
  expiresAt: z.optional(z.string()),
  ttl: z.optional(z.number()),
});
type IndexEntry = z.infer<typeof IndexEntry>;

/**
 * Access pattern 25: a page of an account's image requests, newest first, by any combination of filters.
 * Reads an index up to the page's end, then the page's requests by key: two sequential calls, one more for
 * every further 1 MB of index. An entry does not tell queued from processing: for these, the requests are read up
 * to the page's end. `hasMore` is exact. The index is eventually consistent; the requests are
 * strongly consistent and filtered by how they read at `now`.
 */
export const listImageRequests = async (
  accountId: string,
  filter: RequestFilter,
  page: PageRequest,
  now: Date,
): Promise<Page<StoredRequest>> => {
  const skipped = (page.page - 1) * page.pageSize;
  const end = skipped + page.pageSize;
  if (filter.status !== undefined && listedStateOf(filter.status) === 'unfinished') {
    const requests = await readUnfinished(accountId, filter, end + 1, now);
    return pageOf(requests.slice(skipped, end), page, requests.length > end);
  }
  const entries = await readIndex(accountId, filter, end + 1, now);
  const requests = await readRequests(entries.slice(skipped, end), filter, now);
  return pageOf(requests, page, entries.length > end);
};

/** The newest matching entries of the index, at most `wanted`. */
const readIndex = async (
  accountId: string,
  filter: RequestFilter,
  wanted: number,
  now: Date,
): Promise<IndexEntry[]> => {
  const entries: IndexEntry[] = [];
  for await (const entry of matchingEntries(accountId, filter, wanted, now)) {
    entries.push(entry);
    if (entries.length === wanted) break;
  }
  return entries;
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
  for await (const entry of matchingEntries(accountId, filter, wanted, now)) {
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
const matchingEntries = async function* (
  accountId: string,
  filter: RequestFilter,
  wanted: number,
  now: Date,
): AsyncGenerator<IndexEntry> {
  // Any share of the entries may not match a status.
  const expected = filter.status === undefined ? wanted : Math.max(wanted, FILTERED_FIRST_LIMIT);
  for await (const item of queryAll(indexQuery(accountId, filter), expected)) {
    const entry = IndexEntry.parse(item);
    if (matches(entry, filter, now)) yield entry;
  }
};

const matches = (entry: IndexEntry, { status }: RequestFilter, now: Date): boolean => {
  if (isRemoved(entry, now)) return false;
  if (status === undefined) return true;
  const state = listedState(entry);
  if (state !== listedStateOf(status)) return false;
  return state !== 'succeeded' || statusAt({ ...entry, status: state }, now) === status;
};

/** Upper and lower bound of the partition keys of images created after an instant. */
const NEWEST_IMAGE = requestPartition(`${REQUEST_ID_PREFIX.image}~`);
const newerThan = (createdAfter: Instant | undefined): string => {
  const time = createdAfter === undefined ? -1 : Date.parse(createdAfter);
  // A ULID cannot hold a time before the epoch: every id is newer.
  const oldest = time < 0 ? '' : `${encodeTime(time, 10)}${'Z'.repeat(16)}`;
  return requestPartition(REQUEST_ID_PREFIX.image + oldest);
};

const indexQuery = (
  accountId: string,
  { endUserEmail, createdAfter }: RequestFilter,
): ConstructorParameters<typeof QueryCommand>[0] => {
  const listing = requestListing(accountId, endUserEmail ?? '');
  const [index, partition] =
    endUserEmail === undefined
      ? [REQUEST_INDEXES.byAccount, listing.GSI2PK]
      : [REQUEST_INDEXES.byEndUser, listing.GSI3PK];
  return {
    TableName: tableName(),
    IndexName: index.name,
    KeyConditionExpression: '#partition = :partition AND PK BETWEEN :oldest AND :newest',
    ExpressionAttributeNames: { '#partition': index.partition },
    ExpressionAttributeValues: {
      ':partition': partition,
      ':oldest': newerThan(createdAfter),
      ':newest': NEWEST_IMAGE,
    },
    ScanIndexForward: false,
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
