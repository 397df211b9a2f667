import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX } from '../ids.ts';
import { REQUEST_INDEXES, requestListing, requestPartition } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import { type ListedState, listedState } from './request-rules.ts';

/** Limits a list of an account's requests; absent fields do not limit it. */
export interface AccountRequestFilter {
  state?: ListedState | undefined;
  /** Only requests created at this instant or before it. */
  createdUntil?: Instant | undefined;
  /** Only requests created at this instant or after it. */
  createdFrom?: Instant | undefined;
}

const Entry = z.object({
  PK: z.string(),
  expiresAt: z.optional(z.string()),
  ttl: z.optional(z.number()),
});

/** Prefixes of request ids; the rest of an id sorts by creation time. */
const KINDS = Object.values(REQUEST_ID_PREFIX);

/** The start, after their prefix, of the ids of requests created at this instant. */
const timePart = (instant: Instant): string => encodeTime(Math.max(0, Date.parse(instant)), 10);

/**
 * Access pattern 18: ids of an account's requests by state and time, in no promised order. For
 * operators: reads everything of that time. Eventually consistent.
 */
export const listRequestIdsOfAccount = async function* (
  accountId: string,
  { state, createdUntil, createdFrom }: AccountRequestFilter = {},
): AsyncGenerator<string> {
  const { name, partition } = REQUEST_INDEXES.byAccount;
  const newest = createdUntil === undefined ? '~' : `${timePart(createdUntil)}~`;
  const oldest = createdFrom === undefined ? '' : timePart(createdFrom);
  for (const kind of KINDS) {
    const query = {
      TableName: tableName(),
      IndexName: name,
      KeyConditionExpression: '#partition = :partition AND PK BETWEEN :oldest AND :newest',
      ExpressionAttributeNames: { '#partition': partition },
      ExpressionAttributeValues: {
        ':partition': requestListing(accountId, '').GSI2PK,
        ':oldest': requestPartition(kind + oldest),
        ':newest': requestPartition(kind + newest),
      },
    };
    for await (const item of queryAll(query)) {
      const entry = Entry.parse(item);
      if (state !== undefined && listedState(entry) !== state) continue;
      yield entry.PK.slice(requestPartition('').length);
    }
  }
};
