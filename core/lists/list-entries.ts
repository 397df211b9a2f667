import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { logger } from '../observability.ts';
import { FILTERED_FIRST_LIMIT } from '../table/queries.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { toInstant } from '../time.ts';
import type { CountedList, CountedRange, ListView, StoredCounts } from './counted-list.ts';
import { findCountedRanges, putCountedRanges } from './counted-ranges.ts';
import { UncountedRun } from './uncounted-run.ts';

/** Numbers of entries. */
export interface ListSizes {
  /** Counted ranges are looked up at once when more than this are to be read. */
  far: number;
  /** A first call for a filtered list reads at least this many; after as many, counted ranges are looked up. */
  filtered: number;
  /** A counted range has at least this many. */
  range: number;
}
const SIZES: ListSizes = { far: 1_000, filtered: FILTERED_FIRST_LIMIT, range: 500 };
/** By how much more each further call of a stretch reads than the one before. */
const GROWTH = 4;
/** Most ranges that one walk counts: what it leaves, the next one counts. */
const MAX_COUNTED = 100;

/** How far a walk through a list has come. */
interface Place {
  /** What is read next is before this position. */
  before: string;
  /** The last entry of the query under way, to go on after. */
  after: StoredItem | undefined;
  /** The position of what was passed last. */
  reached: string;
}

/**
 * Access pattern 106: the entries of a list that match, newest first, without the first `skip`, read as they are consumed;
 * about `wanted` will be. Eventually consistent.
 *
 * 1. A short way is read entry by entry. Before a long one, the counted ranges of the list are looked up.
 * 2. A range that holds no more matching entries than are still to be skipped is passed over.
 * 3. What is read on the way is counted for the next walk, as far as it is settled.
 */
export const matchingEntries = async function* <Entry, Counts extends StoredCounts>(
  list: CountedList<Entry, Counts>,
  view: ListView<Entry, Counts>,
  { skip, wanted }: { skip: number; wanted: number },
  now: Date,
  sizes: ListSizes = SIZES,
): AsyncGenerator<Entry> {
  const run = new UncountedRun(list, sizes.range);
  const place: Place = { before: list.top, after: undefined, reached: list.top };
  let [left, missing, read] = [skip, skip + wanted, 0];
  let limit = 0;
  const find = async () => (view.matching ? await findCountedRanges(list, now) : []);
  let ranges = missing > sizes.far ? await find() : undefined;
  try {
    for (;;) {
      const next = ranges?.find(({ before }) => before <= place.reached);
      // At most what the range before shares its end with was read since.
      const isHere = next?.before === place.reached && place.reached === place.before;
      const count = next && isHere && next.from >= view.oldest ? view.matching?.(next.counts) : undefined;
      if (next && count !== undefined && count <= left) {
        left -= count;
        missing -= count;
        Object.assign(place, { before: next.from, reached: next.from, after: undefined });
        run.restart(next.from);
        continue;
      }
      // What is counted already is not counted again, nor as a part of anything.
      if (isHere) run.stop();
      const end = endOfReading(view.oldest, next, isHere);
      limit =
        place.after === undefined
          ? limitOf(view, place.before !== list.top, missing, sizes)
          : Math.max(limit * GROWTH, sizes.filtered);
      const { items, last } = await readOn(list, place, end, limit);
      for (const item of items) {
        const entry = list.toEntry(item);
        place.reached = list.positionOf(entry);
        if (!isHere) run.add(entry);
        if (!view.matches(entry)) continue;
        missing -= 1;
        if (left > 0) left -= 1;
        else yield entry;
      }
      read += items.length;
      place.after = last;
      if (last === undefined) {
        if (end === view.oldest) {
          if (end === list.bottom && !isHere) run.complete(end);
          return;
        }
        if (isHere) run.restart(end);
        else run.complete(end);
        Object.assign(place, { before: end, reached: end });
      } else if (ranges === undefined && read >= sizes.filtered) ranges = await find();
    }
  } finally {
    run.stop();
    // Counts that were not looked up may be there already.
    if (ranges && view.matching) await keepCounted(list, run, now);
  }
};

/** The position down to which to read: the next range, the end of the one that the walk has come to, or the oldest wanted. */
const endOfReading = (
  oldest: string,
  next: CountedRange<StoredCounts> | undefined,
  isHere: boolean,
): string => {
  const end = next === undefined ? oldest : isHere ? next.from : next.before;
  return end > oldest ? end : oldest;
};

/** Number of entries that a call reads: what is expected to suffice, then four times as many each time, so that there are few calls. */
const limitOf = (
  { entriesPerMatch }: { entriesPerMatch?: number },
  isPassed: boolean,
  missing: number,
  { filtered }: ListSizes,
): number => {
  const expected = entriesPerMatch === undefined ? missing : Math.max(missing * entriesPerMatch, filtered);
  // One of them has the position where reading begins, and was passed already.
  return expected + (isPassed ? 1 : 0);
};

/** One call's entries from the place down to the position `end`, and the last one if there are more. */
const readOn = async <Entry, Counts extends StoredCounts>(
  { index, partition, top, toEntry, positionOf }: CountedList<Entry, Counts>,
  { before, after }: Place,
  end: string,
  limit: number,
): Promise<{ items: StoredItem[]; last: StoredItem | undefined }> => {
  const { Items = [], LastEvaluatedKey } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      IndexName: index.name,
      KeyConditionExpression: `#partition = :partition AND ${index.sort} BETWEEN :oldest AND :newest`,
      ExpressionAttributeNames: { '#partition': index.partition },
      ExpressionAttributeValues: { ':partition': partition, ':oldest': end, ':newest': before },
      ScanIndexForward: false,
      Limit: limit,
      ExclusiveStartKey: after,
    }),
  );
  // What has the position `before` itself was passed already.
  const items = before === top ? Items : Items.filter((item) => positionOf(toEntry(item)) < before);
  return { items, last: LastEvaluatedKey };
};

/** Counts only make later walks cheaper: that they could not be kept is no failure of this one. */
const keepCounted = async <Entry, Counts extends StoredCounts>(
  list: CountedList<Entry, Counts>,
  { counted }: UncountedRun<Entry, Counts>,
  now: Date,
): Promise<void> => {
  const countedAt = toInstant(now);
  try {
    await putCountedRanges(
      list,
      counted.slice(0, MAX_COUNTED).map((range) => ({ ...range, countedAt })),
    );
  } catch (error) {
    logger.warn('the counts of a list could not be kept', { error: error as Error });
  }
};
