import * as z from 'zod/mini';
import { readableItems } from '../observability.ts';
import { ledgerEntryKey, ledgerEntrySort, ledgerPartition } from '../table/keys.ts';
import { batchGet, projectionOf, queryAll, rangeQuery, type StoredItem } from '../table/table.ts';
import { LedgerEntry, readableEntries } from './ledger.ts';
import type { UsageEntry } from './usage-rules.ts';

/** Access pattern 40: ledger entries from number `first` to `last`, oldest first, strongly consistent, read as they are consumed. Leaves out those that cannot be read. */
export const readLedgerEntries = async function* (
  accountId: string,
  first: number,
  last: number,
): AsyncGenerator<LedgerEntry> {
  for await (const item of entriesBetween(accountId, first, last)) yield* readableEntries([item]);
};

/** The stored entries with numbers from `first` to `last`, with only the given attributes if `attributes` is given. */
const entriesBetween = async function* (
  accountId: string,
  first: number,
  last: number,
  attributes?: readonly string[],
): AsyncGenerator<StoredItem> {
  if (first > last) return;
  const query = rangeQuery(ledgerPartition(accountId), ledgerEntrySort(first), ledgerEntrySort(last));
  yield* queryAll({ ...query, ...(attributes && projectionOf(attributes)) });
};

const StoredUsage = z.pick(LedgerEntry, {
  reason: true,
  amountThousandths: true,
  createdAt: true,
  reference: true,
  model: true,
  endUserId: true,
  keyId: true,
  debitNumber: true,
});
const USAGE_ATTRIBUTES = ['PK', 'SK', ...Object.keys(StoredUsage.shape)];

/** Access pattern 40: as `readLedgerEntries`, only what usage is counted from: it costs as much to read, and half as much to transfer and to parse. */
export const readUsageEntries = async function* (
  accountId: string,
  first: number,
  last: number,
): AsyncGenerator<UsageEntry> {
  for await (const item of entriesBetween(accountId, first, last, USAGE_ATTRIBUTES))
    yield* readableItems([item], (one) => StoredUsage.parse(one));
};

/** Access pattern 40: stored entries by distinct numbers, strongly consistent, in the given order; undefined for an absent entry. */
export const readStoredEntries = (
  accountId: string,
  numbers: readonly number[],
): Promise<(StoredItem | undefined)[]> =>
  batchGet(numbers.map((number) => ledgerEntryKey(accountId, number)));

/** Ledger entries by distinct numbers, strongly consistent, without absent and unreadable entries. */
export const findLedgerEntries = async (
  accountId: string,
  numbers: readonly number[],
): Promise<LedgerEntry[]> => {
  const items = await readStoredEntries(accountId, numbers);
  return readableEntries(items.filter((item) => item !== undefined));
};
