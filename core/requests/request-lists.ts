import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX } from '../ids.ts';
import { readable } from '../readable.ts';
import { batchGet } from '../table/batches.ts';
import { PRIMARY_KEY, REQUEST_INDEXES, requestKey, requestListing, requestPartition } from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { queryAll, queryFrom } from '../table/queries.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import { createdSince, listFilter } from './request-list-rules.ts';
import {
  isRemoved,
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
const IndexEntry = z.object({ PK: z.string() });
type IndexEntry = z.infer<typeof IndexEntry>;

/**
 * Access pattern 30: a page of an account's image requests, newest first, by any combination of filters.
 * Skips the index entries before the page, and reads the page's requests by key: two sequential calls for an early page, three for
 * a later one, and one more for each further 1 MB of entries. An entry does not tell queued from processing: for these,
 * the requests are read up to the page's end. `hasMore` is exact. The index is eventually consistent; the requests are strongly
 * consistent and filtered by how they read at `now`.
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
/** Bounds on the number of unfinished requests in one read. */
const MIN_BATCH = 20;
const MAX_BATCH = 100;

/** The requests of these entries that match the filter at `now`. At most 100. */
const readRequests = async (
  entries: readonly IndexEntry[],
  { status }: RequestFilter,
  now: Date,
): Promise<StoredRequest[]> => {
  const items = await batchGet(entries.map(({ PK }) => ({ ...requestKey(''), PK })));
  const found = items.filter((item): item is StoredItem => item !== undefined);
  return readable(found, toRequest, ({ PK }) => String(PK))
    .filter((request) => !isRemoved(request, now))
    .filter((request) => status === undefined || statusAt(request, now) === status);
};

/** The entries that match as far as they tell, newest first, read as they are consumed. */
const entriesOf = async function* (
  accountId: string,
  { endUserEmail, status, createdAfter }: RequestFilter,
  wants: { skip: number; wanted: number },
  now: Date,
): AsyncGenerator<IndexEntry> {
  const { byAccount, byEndUser } = REQUEST_INDEXES;
  const { GSI2PK, GSI3PK } = requestListing(accountId, endUserEmail ?? '');
  const [index, partition] = endUserEmail === undefined ? [byAccount, GSI2PK] : [byEndUser, GSI3PK];
  const { FilterExpression, names, values } = listFilter(status, now);
  const query = {
    TableName: tableName(),
    IndexName: index.name,
    KeyConditionExpression: `#partition = :partition AND ${PRIMARY_KEY.partition} BETWEEN :oldest AND :newest`,
    FilterExpression,
    ExpressionAttributeNames: { '#partition': index.partition, ...names },
    ExpressionAttributeValues: {
      ':partition': partition,
      ':oldest': newerThan(createdSince(status, createdAfter, now)),
      ':newest': requestPartition(`${REQUEST_ID_PREFIX.image}~`),
      ...values,
    },
    ScanIndexForward: false,
  };
  for await (const item of queryFrom(query, { ...wants, isSparse: status !== undefined }))
    yield IndexEntry.parse(item);
};

/** The key after which the index has images created after an instant. */
const newerThan = (createdAfter: Instant | undefined): string => {
  const time = createdAfter === undefined ? -1 : Date.parse(createdAfter);
  // A ULID cannot hold a time before the epoch: every id is newer.
  const oldest = time < 0 ? '' : `${encodeTime(time, 10)}${'Z'.repeat(16)}`;
  return requestPartition(REQUEST_ID_PREFIX.image + oldest);
};

/**
 * Access pattern 31: ids of an end-user's requests, videos before images, newest first in each. Eventually
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
