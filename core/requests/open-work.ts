import * as z from 'zod/mini';
import {
  DELETED_REQUEST_PREFIX,
  LISTING_INDEX,
  ledgerPartition,
  OPEN_WORK_SHARDS,
  openWorkPartition,
  requestPartition,
} from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';

/** A request, or the deletion of one, with work left. */
export type OpenWork =
  | { kind: 'request'; requestId: string }
  | { kind: 'deletion'; accountId: string; requestId: string };

const Entry = z.object({ PK: z.string(), SK: z.string() });

const toOpenWork = ({ PK, SK }: z.infer<typeof Entry>): OpenWork =>
  SK.startsWith(DELETED_REQUEST_PREFIX)
    ? {
        kind: 'deletion',
        accountId: PK.slice(ledgerPartition('').length),
        requestId: SK.slice(DELETED_REQUEST_PREFIX.length),
      }
    : { kind: 'request', requestId: PK.slice(requestPartition('').length) };

/**
 * Access pattern 28: open work from before an instant, oldest first in each partition: requests by creation,
 * deletions by deletion time. Eventually consistent.
 */
export const listOpenWork = async function* (before: Instant): AsyncGenerator<OpenWork> {
  for (let shard = 0; shard < OPEN_WORK_SHARDS; shard++) {
    const query = {
      TableName: tableName(),
      IndexName: LISTING_INDEX.name,
      KeyConditionExpression: '#partition = :partition AND #since < :before',
      ExpressionAttributeNames: { '#partition': LISTING_INDEX.partition, '#since': LISTING_INDEX.sort },
      ExpressionAttributeValues: { ':partition': openWorkPartition(shard), ':before': before },
    };
    for await (const item of queryAll(query)) yield toOpenWork(Entry.parse(item));
  }
};
