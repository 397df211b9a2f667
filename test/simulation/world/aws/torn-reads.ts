import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { PRIMARY_KEY } from '../../../../core/table/keys.ts';
import type { Item } from '../../../unit/fakes/expressions.ts';
import type { QueryAnswer } from '../../../unit/fakes/memory-query.ts';
import type { Random } from '../engine/random.ts';
import { keyText } from './indexes.ts';
import type { Table } from './table.ts';

/** A read of several items in two instants. */
export interface TornRead<T> {
  /** Reads all, when the call arrives. */
  begin: () => T;
  /** Reads a part again, when the answer is back. */
  readOn: (answer: T) => T;
}

/**
 * A Query with DynamoDB's isolation: each item as committed at some instant of the read, and different items at
 * different instants. The items behind a point in its order, chosen at random, are read later than those before it.
 * In an index every item is late by itself, so a Query of one is left as it is.
 */
export const tornQuery = (table: Table, random: Random, input: QueryCommandInput): TornRead<QueryAnswer> => {
  let readAt = 0;
  return {
    begin: () => {
      readAt = table.changesIn(input);
      return table.query(input);
    },
    readOn: (found) => {
      if (input.IndexName !== undefined || table.changesIn(input) === readAt) return found;
      const later = table.query(input);
      // A count or a filtered answer does not show where it could be split.
      if (!found.Items || !later.Items || input.FilterExpression !== undefined) return later;
      const boundary = random.pick(boundariesIn(found.Items, later.Items));
      if (boundary === undefined) return later;
      const isBefore = orderOf(input);
      const kept = found.Items.filter((item) => !isBefore(boundary, item));
      if (kept.length === input.Limit) return found;
      const rest = table.query({
        ...input,
        ...(input.Limit === undefined ? {} : { Limit: input.Limit - kept.length }),
        ExclusiveStartKey: boundary,
      });
      const Items = [...kept, ...(rest.Items ?? [])];
      return { ...rest, Items, Count: Items.length, ScannedCount: Items.length };
    },
  };
};

/** The keys after which the second instant of a read may begin: of items that were there in either; undefined for the beginning. */
const boundariesIn = (first: readonly Item[], second: readonly Item[]): (Item | undefined)[] => {
  const known = new Set(first.map(keyText));
  const added = second.filter((item) => !known.has(keyText(item)));
  return [undefined, ...[...first, ...added].map(keyOf)];
};

/** Whether one item comes before another in the order of a query of the table. */
const orderOf =
  ({ ScanIndexForward = true }: QueryCommandInput) =>
  (a: Item, b: Item): boolean => {
    const [left, right] = [String(a[PRIMARY_KEY.sort]), String(b[PRIMARY_KEY.sort])];
    return ScanIndexForward ? left < right : left > right;
  };

/**
 * The items of a BatchGetItem, each read separately: about half of the items that change during the read have their
 * new version.
 */
export const tornBatch = (table: Table, random: Random, keys: readonly Item[]): TornRead<Item[]> => ({
  begin: () => keys.map((key) => table.get(key)).filter((item) => item !== undefined),
  readOn: (found) => {
    const before = new Map(found.map((item) => [keyText(item), item]));
    return keys
      .map((key) => {
        const [earlier, later] = [before.get(keyText(key)), table.get(key)];
        return earlier === later || random.next() < 0.5 ? earlier : later;
      })
      .filter((item) => item !== undefined);
  },
});

const keyOf = (item: Item): Item => ({
  [PRIMARY_KEY.partition]: item[PRIMARY_KEY.partition],
  [PRIMARY_KEY.sort]: item[PRIMARY_KEY.sort],
});
