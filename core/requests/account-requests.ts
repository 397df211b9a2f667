import { encodeTime } from 'ulid';
import * as z from 'zod/mini';
import { REQUEST_ID_PREFIX, type RequestKind } from '../ids.ts';
import { readableItems } from '../observability.ts';
import { REQUEST_INDEXES, requestListing, requestPartition } from '../table/keys.ts';
import { queryAll, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import { type ListedState, listedState } from './request-rules.ts';

/** Limits a list of an account's requests; absent fields do not limit it. */
export interface AccountRequestFilter {
  state?: ListedState | undefined;
  /** Only requests created at this instant or before it. */
  createdUntil?: Instant | undefined;
  /** Only requests created at this instant or after it. */
  createdFrom?: Instant | undefined;
  kind?: RequestKind | undefined;
  /** Only requests of this end-user: a normalized address. */
  endUserEmail?: string | undefined;
}

const Entry = z.object({
  PK: z.string(),
  expiresAt: z.optional(z.string()),
  ttl: z.optional(z.number()),
});

export const REQUEST_KINDS = Object.keys(REQUEST_ID_PREFIX) as RequestKind[];

/** The start, after their prefix, of the ids of requests created at this instant. */
const timePart = (instant: Instant): string => encodeTime(Math.max(0, Date.parse(instant)), 10);

/**
 * Access pattern 18: ids of an account's requests by kind, end-user, state and time, newest first of each kind. For operators: reads
 * everything of that time, as it is consumed, the first `expected` at first. Leaves out entries that cannot be read. Eventually consistent.
 */
export const listRequestIdsOfAccount = async function* (
  accountId: string,
  { state, createdUntil, createdFrom, kind, endUserEmail }: AccountRequestFilter = {},
  expected?: number,
): AsyncGenerator<string> {
  const { byAccount, byEndUser } = REQUEST_INDEXES;
  const { GSI2PK, GSI3PK } = requestListing(accountId, endUserEmail ?? '');
  const [index, value] = endUserEmail === undefined ? [byAccount, GSI2PK] : [byEndUser, GSI3PK];
  const newest = createdUntil === undefined ? '~' : `${timePart(createdUntil)}~`;
  const oldest = createdFrom === undefined ? '' : timePart(createdFrom);
  for (const prefix of (kind ? [kind] : REQUEST_KINDS).map((each) => REQUEST_ID_PREFIX[each])) {
    const query = {
      TableName: tableName(),
      IndexName: index.name,
      KeyConditionExpression: '#partition = :partition AND PK BETWEEN :oldest AND :newest',
      ExpressionAttributeNames: { '#partition': index.partition },
      ExpressionAttributeValues: {
        ':partition': value,
        ':oldest': requestPartition(prefix + oldest),
        ':newest': requestPartition(prefix + newest),
      },
      ScanIndexForward: false,
    };
    for await (const item of queryAll(query, expected)) {
      const [entry] = readableItems([item], (one) => Entry.parse(one));
      if (!entry || (state !== undefined && listedState(entry) !== state)) continue;
      yield entry.PK.slice(requestPartition('').length);
    }
  }
};
