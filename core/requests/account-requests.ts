import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX } from '../ids.ts';
import { REQUEST_INDEXES, requestListing, requestPartition, requestStatusListing } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import type { StoredStatus } from './request-rules.ts';

/** Limits a list of an account's requests; absent fields do not limit it. */
export interface AccountRequestFilter {
  status?: StoredStatus | undefined;
  /** Only requests created at this instant or before it. */
  createdUntil?: Instant | undefined;
  /** Only requests created at this instant or after it. */
  createdFrom?: Instant | undefined;
}

const Entry = z.object({ PK: z.string() });

/** Prefixes of request ids; the rest of an id sorts by creation time. */
const KINDS = Object.values(REQUEST_ID_PREFIX);

/** What ids of requests created at this instant begin with, after their prefix. */
const timePart = (instant: Instant): string => encodeTime(Math.max(0, Date.parse(instant)), 10);

/**
 * Access pattern 26: ids of an account's requests by stored status, images before videos, newest first in
 * each. For operators: reads the whole index partition. Eventually consistent.
 */
export const listRequestIdsOfAccount = async function* (
  accountId: string,
  { status, createdUntil, createdFrom }: AccountRequestFilter = {},
): AsyncGenerator<string> {
  const [index, partition] =
    status === undefined
      ? [REQUEST_INDEXES.byAccount, requestListing(accountId, '').GSI2PK]
      : [REQUEST_INDEXES.byStatus, requestStatusListing(accountId, '', status).GSI3PK];
  const newest = createdUntil === undefined ? '~' : `${timePart(createdUntil)}~`;
  const oldest = createdFrom === undefined ? '' : timePart(createdFrom);
  for (const kind of KINDS) {
    const query = {
      TableName: tableName(),
      IndexName: index.name,
      KeyConditionExpression: '#partition = :partition AND PK BETWEEN :oldest AND :newest',
      ExpressionAttributeNames: { '#partition': index.partition },
      ExpressionAttributeValues: {
        ':partition': partition,
        ':oldest': requestPartition(kind + oldest),
        ':newest': requestPartition(kind + newest),
      },
      ScanIndexForward: false,
    };
    for await (const item of queryAll(query)) {
      yield Entry.parse(item).PK.slice(requestPartition('').length);
    }
  }
};
