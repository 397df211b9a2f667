import type { ItemKey } from './keys.ts';

/** The partition of what is counted of an account's lists. */
export const listCountsPartition = (accountId: string): string => `COUNTS#${accountId}`;

/** The counts of a range of a list that ends at the position `from`. */
export const countedRangeKey = (accountId: string, list: string, from: string): ItemKey => ({
  PK: listCountsPartition(accountId),
  SK: countedRangePrefix(list) + from,
});
/** The beginning of the sort keys of a list's ranges. */
export const countedRangePrefix = (list: string): string => `RANGE#${list}#`;

/** When something in a part of an account's lists of a kind last changed. */
export const listChangeKey = (accountId: string, kind: string, part: string): ItemKey => ({
  PK: listCountsPartition(accountId),
  SK: listChangePrefix(kind) + part,
});
/** The beginning of the sort keys of the changes in a kind of lists. */
export const listChangePrefix = (kind: string): string => `CHANGE#${kind}#`;
