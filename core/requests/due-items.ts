import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { readable } from '../observability.ts';
import {
  DELETED_REQUEST_PREFIX,
  DUE_SHARDS,
  type DueList,
  deletedRequestPartition,
  dueListing,
  duePartition,
  END_USER_REMOVAL_PREFIX,
  endUserPartition,
  type ItemKey,
  LISTING_INDEX,
  REQUEST_SORT,
  requestPartition,
  WEBHOOK_ATTEMPT_PREFIX,
  webhookAttemptPartition,
} from '../table/keys.ts';
import {
  lastItems,
  listingQuery,
  type StoredItem,
  setAll,
  table,
  tableName,
  updateOf,
} from '../table/table.ts';
import { writeOnCondition } from '../table/transactions.ts';
import type { Instant } from '../time.ts';

/** The subject of a due item: a request, the deletion of a request, the removal of an end-user, or the first attempt of a webhook. */
type DueWork =
  | { kind: 'request'; requestId: string }
  | { kind: 'deletion'; accountId: string; requestId: string }
  | { kind: 'removal'; accountId: string; removalId: string }
  | { kind: 'webhook'; eventId: string };

/** An item in a due list, as a query found it. */
export interface DueItem {
  list: DueList;
  work: DueWork;
  key: ItemKey;
  /** The item's due key in the index. A write on condition that the item has not moved names the key. */
  dueKey: { GSI1PK: string; GSI1SK: Instant };
}

/** The id of an item's request, as a list of none or one: for `flatMap`. */
export const requestIdOf = ({ work }: DueItem): string[] => (work.kind === 'request' ? [work.requestId] : []);

const Entry = z.object({ PK: z.string(), SK: z.string(), GSI1PK: z.string(), GSI1SK: z.string() });

const workOf = ({ PK, SK }: ItemKey): DueWork => {
  if (SK.startsWith(DELETED_REQUEST_PREFIX)) {
    const accountId = PK.slice(deletedRequestPartition('').length);
    return { kind: 'deletion', accountId, requestId: SK.slice(DELETED_REQUEST_PREFIX.length) };
  }
  if (SK.startsWith(END_USER_REMOVAL_PREFIX)) {
    const accountId = PK.slice(endUserPartition('').length);
    return { kind: 'removal', accountId, removalId: SK.slice(SK.lastIndexOf('#') + 1) };
  }
  if (SK.startsWith(WEBHOOK_ATTEMPT_PREFIX))
    return { kind: 'webhook', eventId: PK.slice(webhookAttemptPartition('').length) };
  if (SK === REQUEST_SORT) return { kind: 'request', requestId: PK.slice(requestPartition('').length) };
  throw new Error('This version has no such work.');
};

/** The text whose hash chooses the partition of an item in a due list. */
const workText = (work: DueWork): string => {
  if (work.kind === 'removal') return work.removalId;
  return work.kind === 'webhook' ? work.eventId : work.requestId;
};

const toDueItem = (list: DueList, item: StoredItem): DueItem => {
  const { PK, SK, ...dueKey } = Entry.parse(item);
  return { list, work: workOf({ PK, SK }), key: { PK, SK }, dueKey };
};

/** Later than any item is due: with it `listDue` lists everything. */
export const END_OF_TIME: Instant = '9999-12-31T23:59:59.999Z';

/** The position in a due list: the partitions that may hold more items, by number, each after its last item. */
export const DuePosition = z.array(z.object({ shard: z.number(), after: Entry }));
export type DuePosition = z.infer<typeof DuePosition>;

/**
 * Access pattern 19: items of a list that are due at `now`, longest due first. One query for each partition,
 * in parallel, with at most `limit` items each. Pass `next` as `from` to continue; it is empty at the end of the list.
 * Leaves out work of a kind that this version does not know.
 * Eventually consistent.
 */
export const listDue = async (
  list: DueList,
  now: Instant,
  limit: number,
  from?: DuePosition,
): Promise<{ items: DueItem[]; next: DuePosition }> => {
  const partitions = from ?? Array.from({ length: DUE_SHARDS }, (_, shard) => ({ shard, after: undefined }));
  const pages = await Promise.all(
    partitions.map(async ({ shard, after }) => {
      const { Items = [], LastEvaluatedKey } = await table.send(
        new QueryCommand({
          TableName: tableName(),
          IndexName: LISTING_INDEX.name,
          KeyConditionExpression: '#partition = :partition AND #dueAt <= :now',
          ExpressionAttributeNames: { '#partition': LISTING_INDEX.partition, '#dueAt': LISTING_INDEX.sort },
          ExpressionAttributeValues: { ':partition': duePartition(list, shard), ':now': now },
          Limit: limit,
          ExclusiveStartKey: after,
        }),
      );
      const next = LastEvaluatedKey ? [{ shard, after: Entry.parse(LastEvaluatedKey) }] : [];
      return {
        items: readable(
          Items,
          (item) => toDueItem(list, item),
          ({ PK }) => String(PK),
        ),
        next,
      };
    }),
  );
  const items = pages.flatMap((page) => page.items);
  items.sort((a, b) => (a.dueKey.GSI1SK < b.dueKey.GSI1SK ? -1 : 1));
  return { items, next: pages.flatMap(({ next }) => next) };
};

/**
 * Access pattern 19: the item of a due list with the latest due time, in an array that is empty for an empty list. Makes a query
 * for each partition, in parallel. Eventually consistent.
 */
export const findNewestDue = async (list: DueList): Promise<DueItem[]> => {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) =>
    lastItems(listingQuery(duePartition(list, shard)), 1),
  );
  const items = readable(
    (await Promise.all(shards)).flat(),
    (item) => toDueItem(list, item),
    ({ PK }) => String(PK),
  );
  return items.sort((a, b) => (a.dueKey.GSI1SK < b.dueKey.GSI1SK ? 1 : -1)).slice(0, 1);
};

/**
 * Access pattern 20: moves an item to another due time or list. Returns the due item with its new due key, and the stored item;
 * undefined, with nothing changed, when the item has left the due key under which it was found.
 */
export const reschedule = async (
  { key, dueKey, work }: DueItem,
  list: DueList,
  dueAt: Instant,
): Promise<{ due: DueItem; item: StoredItem } | undefined> => {
  const next = dueListing(list, workText(work), dueAt);
  const { done, item } = await writeOnCondition(
    updateOf(key, {
      ...setAll(next, { ':seenPartition': dueKey.GSI1PK, ':seenAt': dueKey.GSI1SK }),
      ConditionExpression: '#GSI1PK = :seenPartition AND #GSI1SK = :seenAt',
      ReturnValues: 'ALL_NEW',
    }),
  );
  return done ? { due: { list, work, key, dueKey: next }, item } : undefined;
};
