import { type AccountedRequest, entryNumbersOf } from '../requests/request-rules.ts';
import { batchGetAll } from '../table/batches.ts';
import { ledgerEntryKey, ledgerEntrySort, ledgerPartition } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { tableName } from '../table/table.ts';
import { LedgerEntry } from './ledger.ts';

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
