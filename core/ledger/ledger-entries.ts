import * as z from 'zod/mini';
import { type AccountedRequest, entryNumbersOf } from '../requests/request-rules.ts';
import { batchGetAll } from '../table/batches.ts';
import { ledgerEntryKey, ledgerEntrySort, ledgerPartition } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';
import { LedgerEntry } from './ledger.ts';
import type { UsageEntry } from './usage-rules.ts';

/** Access pattern 61: ledger entries from number `first` to `last`, oldest first, strongly consistent, read as they are consumed. */
export const readLedgerEntries = async function* (
  accountId: string,
  first: number,
  last: number,
): AsyncGenerator<LedgerEntry> {
  if (first > last) return;
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :ledger AND SK BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':ledger': ledgerPartition(accountId),
      ':first': ledgerEntrySort(first),
      ':last': ledgerEntrySort(last),
    },
    ConsistentRead: true,
  };
  for await (const item of queryAll(query)) yield LedgerEntry.parse(item);
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
const USAGE_ATTRIBUTES = Object.keys(StoredUsage.shape);

/** Access pattern 116: as 61, only what usage is told from: it costs as much to read, and half as much to transfer and to parse. */
export const readUsageEntries = async function* (
  accountId: string,
  first: number,
  last: number,
): AsyncGenerator<UsageEntry> {
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :ledger AND SK BETWEEN :first AND :last',
    ProjectionExpression: USAGE_ATTRIBUTES.map((name) => `#${name}`).join(),
    ExpressionAttributeNames: Object.fromEntries(USAGE_ATTRIBUTES.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ':ledger': ledgerPartition(accountId),
      ':first': ledgerEntrySort(first),
      ':last': ledgerEntrySort(last),
    },
    ConsistentRead: true,
  };
  for await (const item of queryAll(query)) yield StoredUsage.parse(item);
};

/** Access pattern 62: ledger entries by their numbers, all different, strongly consistent. Leaves out those that are absent. */
export const findLedgerEntries = async (
  accountId: string,
  numbers: readonly number[],
): Promise<LedgerEntry[]> => {
  const items = await batchGetAll(numbers.map((number) => ledgerEntryKey(accountId, number)));
  return items.flatMap((item) => (item ? LedgerEntry.parse(item) : []));
};

/**
 * The debit of a request and, once it has ended with one, its refund, strongly consistent. Reads the ledger up to entry
 * `ledgerEntries` for a request that does not name them.
 */
export const listEntriesOfRequest = async (
  request: AccountedRequest & { requestId: string },
  ledgerEntries: number,
): Promise<LedgerEntry[]> => {
  const { accountId, requestId } = request;
  const numbers = entryNumbersOf(request);
  if (numbers) return findLedgerEntries(accountId, numbers);
  const found: LedgerEntry[] = [];
  for await (const entry of readLedgerEntries(accountId, 1, ledgerEntries)) {
    if (entry.reference === requestId) found.push(entry);
  }
  return found;
};
