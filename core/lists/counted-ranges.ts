import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type Clock, systemClock } from '../clock.ts';
import { putItems } from '../table/batches.ts';
import {
  countedRangeKey,
  countedRangePrefix,
  listChangeKey,
  listChangePrefix,
  listCountsPartition,
} from '../table/count-keys.ts';
import { TTL_ATTRIBUTE } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import { writeItem } from '../table/transactions.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import type { CountedList, CountedRange, StoredCounts } from './counted-list.ts';

/**
 * An index shows a write within this time of its beginning: far longer than a function tries, and than an index is behind
 * (usually a fraction of a second).
 */
export const VISIBLE_AFTER_SECONDS = 300;
/** A noted change outlives the counts that it voids. */
const RANGE_SECONDS = 100 * SECONDS_PER_DAY;
const CHANGE_SECONDS = 2 * RANGE_SECONDS;

const Range = z.object({
  from: z.string(),
  before: z.string(),
  counts: z.record(z.string(), z.union([z.number(), z.string()])),
  countedAt: z.string(),
  ttl: z.number(),
});
const Change = z.object({ SK: z.string(), changedAt: z.string() });

const queryOf = (accountId: string, prefix: string, ConsistentRead: boolean) => ({
  TableName: tableName(),
  KeyConditionExpression: 'PK = :counts AND begins_with(SK, :prefix)',
  ExpressionAttributeValues: { ':counts': listCountsPartition(accountId), ':prefix': prefix },
  ConsistentRead,
});

const readAll = async <T>(
  query: ReturnType<typeof queryOf>,
  parse: (item: StoredItem) => T,
): Promise<T[]> => {
  const read: T[] = [];
  for await (const item of queryAll(query)) read.push(parse(item));
  return read;
};

/**
 * Access pattern 103: the counted ranges of a list that hold at `now`, newest first. One holds unless something in it may have
 * changed since it was counted. Ranges are eventually consistent, changes strongly.
 */
export const findCountedRanges = async <Entry, Counts extends StoredCounts>(
  { accountId, name, kind, partOf }: CountedList<Entry, Counts>,
  now: Date,
): Promise<CountedRange<Counts>[]> => {
  const changesPrefix = listChangePrefix(kind);
  const [ranges, changes] = await Promise.all([
    readAll(queryOf(accountId, countedRangePrefix(name), false), (item) => Range.parse(item)),
    readAll(queryOf(accountId, changesPrefix, true), (item) => Change.parse(item)),
  ]);
  const changed = changes.map(({ SK, changedAt }) => ({
    part: SK.slice(changesPrefix.length),
    visibleAt: addSeconds(changedAt, VISIBLE_AFTER_SECONDS),
  }));
  const holds = ({ from, before, countedAt }: z.infer<typeof Range>): boolean => {
    const [oldest, newest] = [partOf(from), partOf(before)];
    return !changed.some(({ part, visibleAt }) => part >= oldest && part <= newest && visibleAt >= countedAt);
  };
  return ranges
    .filter(({ ttl }) => ttl > toEpochSeconds(toInstant(now)))
    .filter(holds)
    .map(({ from, before, counts, countedAt }) => ({ from, before, counts: counts as Counts, countedAt }))
    .sort((a, b) => (a.before === b.before ? compare(a.from, b.from) : compare(b.before, a.before)));
};

const compare = (a: string, b: string): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** Access pattern 104: keeps counted ranges of a list for 100 days. */
export const putCountedRanges = <Entry, Counts extends StoredCounts>(
  { accountId, name }: CountedList<Entry, Counts>,
  ranges: readonly CountedRange<Counts>[],
): Promise<void> =>
  putItems(
    ranges.map((range) => ({
      ...countedRangeKey(accountId, name, range.from),
      ...range,
      [TTL_ATTRIBUTE]: toEpochSeconds(range.countedAt) + RANGE_SECONDS,
    })),
  );

/**
 * Access pattern 105: notes that something in a part of an account's lists of a kind is about to change, so that counts made
 * until it shows no longer hold. To be called shortly before the change, each time it is tried.
 */
export const noteListChange = async (
  accountId: string,
  kind: string,
  part: string,
  clock: Clock = systemClock,
): Promise<void> => {
  const changedAt: Instant = toInstant(clock.now());
  await writeItem(
    new UpdateCommand({
      TableName: tableName(),
      Key: listChangeKey(accountId, kind, part),
      UpdateExpression: 'SET changedAt = :now, #ttl = :ttl',
      ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: { ':now': changedAt, ':ttl': toEpochSeconds(changedAt) + CHANGE_SECONDS },
    }),
  );
};
