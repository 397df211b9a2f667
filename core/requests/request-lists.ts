import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { ValidationError } from '../errors.ts';
import { creationTimeOf, REQUEST_ID_PREFIX, type RequestKind } from '../ids.ts';
import { PRIMARY_KEY, REQUEST_INDEXES, requestKey, requestListing, requestPartition } from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { queryFrom, readItems, tableName } from '../table/table.ts';
import { addSeconds, type Instant } from '../time.ts';
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
  model?: string | undefined;
  /** Only requests strictly newer than this. */
  createdAfter?: Instant | undefined;
  /** Only requests strictly older than this. */
  createdBefore?: Instant | undefined;
  /** Only requests that follow this request in the list. */
  afterRequest?: string | undefined;
  /** Lists the oldest first. */
  isAscending?: boolean;
}

/** The requests of an account and kind that match a filter at `now`. */
export interface RequestList {
  accountId: string;
  kind: RequestKind;
  filter: RequestFilter;
  now: Date;
}

export interface RequestPage extends Page<StoredRequest> {
  /** The instant at which the search for a model stopped: every match created since is on this page or an earlier page. */
  nextCreatedBefore?: Instant;
}

const IndexEntry = z.object({ PK: z.string() });
type IndexEntry = z.infer<typeof IndexEntry>;

/**
 * Access pattern 17: a page of an account's requests of a kind, newest first unless the filter says otherwise, by any combination of filters. Skips the index
 * entries before the page, and reads the page's requests by key: two sequential calls for an early page, three for a later page,
 * and a further call for each 1 MB of entries. Index entries do not contain the model, nor whether a request is queued or
 * processing: filters on these read all requests up to the page's end. A filter on the model reads at most `MAX_SEARCHED`
 * requests: a page beyond this limit ends early with `nextCreatedBefore`, and later pages are refused with `ValidationError`.
 * `hasMore` is exact, but true where a search stopped. The index is eventually consistent; the requests are strongly consistent
 * and filtered by how they read at `now`.
 */
export const listRequests = async (list: RequestList, page: PageRequest): Promise<RequestPage> => {
  const { filter, now } = list;
  const skip = (page.page - 1) * page.pageSize;
  const end = skip + page.pageSize;
  if (filter.model !== undefined || isOfUnfinished(filter)) {
    const { requests, stoppedBefore } = await search(list, end + 1);
    const items = requests.slice(skip, end);
    if (stoppedBefore === undefined) return pageOf(items, page, requests.length > end);
    if (items.length === 0 && page.page > 1) throw new ValidationError({ page: beyondSearch(stoppedBefore) });
    return { ...pageOf(items, page, true), nextCreatedBefore: stoppedBefore };
  }
  const wanted = page.pageSize + 1;
  const entries: IndexEntry[] = [];
  for await (const entry of matchingEntries(list, { skip, wanted })) {
    entries.push(entry);
    if (entries.length === wanted) break;
  }
  const requests = await readRequests(entries.slice(0, page.pageSize), filter, now);
  return pageOf(requests, page, entries.length > page.pageSize);
};

const isOfUnfinished = ({ status }: RequestFilter): boolean =>
  status !== undefined && listedStateOf(status) === 'unfinished';

/** Most requests that a page reads to find those of a model: 1,000 read units or a little more, in some 13 calls. */
export const MAX_SEARCHED = 1_000;

const beyondSearch = (stoppedBefore: Instant): string =>
  `needs more than ${MAX_SEARCHED} requests to be searched for the model: go on with createdBefore ${stoppedBefore}`;

/**
 * The newest requests that match the filter, at most `wanted`. A search for a model that stopped at its limit says how far it came: every
 * match created since `stoppedBefore` was found.
 */
const search = async (
  list: RequestList,
  wanted: number,
): Promise<{ requests: StoredRequest[]; stoppedBefore?: Instant }> => {
  const limit = list.filter.model === undefined ? Number.POSITIVE_INFINITY : MAX_SEARCHED;
  const requests: StoredRequest[] = [];
  let batch: IndexEntry[] = [];
  let searched = 0;
  let last: IndexEntry | undefined;
  const readBatch = async (): Promise<void> => {
    requests.push(...(await readRequests(batch, list.filter, list.now)));
    batch = [];
  };
  for await (const entry of matchingEntries(list, { skip: 0, wanted: Math.min(wanted, limit + 1) })) {
    if (searched === limit && last !== undefined) {
      await readBatch();
      if (requests.length < wanted) return stoppedAt(creationTimeOf(requestIdOf(last)), requests);
      break;
    }
    batch.push(entry);
    searched += 1;
    last = entry;
    // Twice as many each time, as long as few match.
    const most = Math.max(MIN_BATCH, wanted - requests.length, searched - batch.length);
    if (batch.length >= Math.min(MAX_BATCH, most)) await readBatch();
    if (requests.length >= wanted) break;
  }
  await readBatch();
  return { requests: requests.slice(0, wanted) };
};
/** Bounds on the number of requests that a search reads at once. */
const MIN_BATCH = 20;
const MAX_BATCH = 100;

/** The result of a search that ended with a request created at `oldest`: there may be more of that millisecond. */
const stoppedAt = (oldest: Instant, requests: readonly StoredRequest[]) => ({
  requests: requests.filter(({ requestId }) => creationTimeOf(requestId) > oldest),
  stoppedBefore: addSeconds(oldest, 0.001),
});

const requestIdOf = ({ PK }: IndexEntry): string => PK.slice(requestPartition('').length);

/** The requests of these entries that match the filter at `now`. At most 100. */
const readRequests = async (
  entries: readonly IndexEntry[],
  { status, model }: RequestFilter,
  now: Date,
): Promise<StoredRequest[]> => {
  const requests = await readItems(
    entries.map(({ PK }) => ({ ...requestKey(''), PK })),
    toRequest,
  );
  return requests
    .filter((request) => !isRemoved(request, now))
    .filter((request) => status === undefined || statusAt(request, now) === status)
    .filter((request) => model === undefined || request.model === model);
};

/** The index entries that match by their attributes, in the order of the list, read as the entries are consumed. */
const matchingEntries = async function* (
  { accountId, kind, filter, now }: RequestList,
  wants: { skip: number; wanted: number },
): AsyncGenerator<IndexEntry> {
  const {
    endUserEmail,
    status,
    model,
    createdAfter,
    createdBefore,
    afterRequest,
    isAscending = false,
  } = filter;
  const { byAccount, byEndUser } = REQUEST_INDEXES;
  const { GSI2PK, GSI3PK } = requestListing(accountId, endUserEmail ?? '');
  const [index, partition] = endUserEmail === undefined ? [byAccount, GSI2PK] : [byEndUser, GSI3PK];
  const [laterThan, earlierThan] = isAscending ? [afterRequest, undefined] : [undefined, afterRequest];
  const since = createdSince(status, createdAfter, now);
  const oldest = laterThan === undefined ? newerThan(kind, since) : behind(laterThan);
  const newest = earlierThan === undefined ? olderThan(kind, createdBefore) : before(earlierThan);
  // DynamoDB refuses such a range.
  if (oldest > newest) return;
  const { FilterExpression, names, values } = listFilter(status, now);
  const query = {
    TableName: tableName(),
    IndexName: index.name,
    KeyConditionExpression: `#partition = :partition AND ${PRIMARY_KEY.partition} BETWEEN :oldest AND :newest`,
    FilterExpression,
    ExpressionAttributeNames: { '#partition': index.partition, ...names },
    ExpressionAttributeValues: {
      ':partition': partition,
      ':oldest': oldest,
      ':newest': newest,
      ...values,
    },
    ScanIndexForward: isAscending,
  };
  const isSparse = status !== undefined || model !== undefined;
  for await (const item of queryFrom(query, { ...wants, isSparse })) yield IndexEntry.parse(item);
};

/** The key after which the index has requests created after an instant. */
const newerThan = (kind: RequestKind, createdAfter: Instant | undefined): string => {
  const time = createdAfter === undefined ? -1 : Date.parse(createdAfter);
  // A ULID cannot hold a time before the epoch: every id is newer.
  const oldest = time < 0 ? '' : `${encodeTime(time, 10)}${'Z'.repeat(16)}`;
  return requestPartition(REQUEST_ID_PREFIX[kind] + oldest);
};

/** The last key of all before a request's: keys have one length, and no character after `~`. */
const before = (requestId: string): string => {
  const key = requestPartition(requestId);
  return `${key.slice(0, -1)}${String.fromCharCode(key.charCodeAt(key.length - 1) - 1)}~`;
};

/** The first key of all behind a request's: keys have one length. */
const behind = (requestId: string): string => `${requestPartition(requestId)}~`;

/** The key before which the index has requests created before an instant. */
const olderThan = (kind: RequestKind, createdBefore: Instant | undefined): string => {
  const newest = createdBefore === undefined ? '~' : encodeTime(Math.max(0, Date.parse(createdBefore)), 10);
  return requestPartition(REQUEST_ID_PREFIX[kind] + newest);
};
