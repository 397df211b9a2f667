import type { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX } from '../ids.ts';
import { batchGet } from '../table/batches.ts';
import {
  REQUEST_INDEXES,
  requestKey,
  requestListing,
  requestPartition,
  requestStatusListing,
} from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { FILTERED_FIRST_LIMIT, queryAll } from '../table/queries.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import {
  isRemoved,
  type RecordStatus,
  type StoredRequest,
  type StoredStatus,
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
 * every further 1 MB of index. `hasMore` is exact. The index is eventually consistent; the requests are
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
  const entries = await readIndex(accountId, filter, end + 1, now);
  const onPage = entries.slice(skipped, end);
  const items = await batchGet(onPage.map(({ PK }) => ({ ...requestKey(''), PK })));
  const requests = items
    .filter((item): item is StoredItem => item !== undefined)
    .map(toRequest)
    .filter((request) => !isRemoved(request, now))
    .filter((request) => filter.status === undefined || statusAt(request, now) === filter.status);
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
  // Stored as succeeded covers both succeeded and expired, so any share of the entries may not match.
  const filtered = filter.status === 'succeeded' || filter.status === 'expired';
  const expected = filtered ? Math.max(wanted, FILTERED_FIRST_LIMIT) : wanted;
  for await (const item of queryAll(indexQuery(accountId, filter), expected)) {
    const entry = IndexEntry.parse(item);
    if (matches(entry, filter, now)) entries.push(entry);
    if (entries.length === wanted) break;
  }
  return entries;
};

/** The stored status of requests that read as `status`. */
const storedStatusOf = (status: RecordStatus): StoredStatus => (status === 'expired' ? 'succeeded' : status);

const matches = (entry: IndexEntry, { status }: RequestFilter, now: Date): boolean => {
  if (isRemoved(entry, now)) return false;
  if (status === undefined) return true;
  return statusAt({ ...entry, status: storedStatusOf(status) }, now) === status;
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
  { endUserEmail, status, createdAfter }: RequestFilter,
): ConstructorParameters<typeof QueryCommand>[0] => {
  const [index, partition] = chooseIndex(accountId, endUserEmail, status);
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

const chooseIndex = (accountId: string, email: string | undefined, status: RecordStatus | undefined) => {
  const { byAccount, byEndUser, byStatus, byEndUserAndStatus } = REQUEST_INDEXES;
  const listing = requestListing(accountId, email ?? '');
  const statusListing = requestStatusListing(accountId, email ?? '', storedStatusOf(status ?? 'queued'));
  if (email === undefined) {
    return status === undefined
      ? ([byAccount, listing.GSI2PK] as const)
      : ([byStatus, statusListing.GSI3PK] as const);
  }
  return status === undefined
    ? ([byEndUser, listing.GSI4PK] as const)
    : ([byEndUserAndStatus, statusListing.GSI5PK] as const);
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
    ExpressionAttributeValues: { ':partition': requestListing(accountId, email).GSI4PK },
    ScanIndexForward: false,
  };
  for await (const item of queryAll(query)) {
    yield IndexEntry.parse(item).PK.slice(requestPartition('').length);
  }
};
