import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Account } from '../accounts/accounts.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { ledgerEntryKey, ledgerEntrySort, ledgerPartition, MAX_ENTRY_NUMBER } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { table, tableName } from '../table/table.ts';
import { addSeconds, type Instant } from '../time.ts';
import { LedgerEntry } from './ledger.ts';

/**
 * Access pattern 47: ledger entries from number `first` to `last`, oldest first, strongly consistent.
 * `expected` sizes the first read.
 */
export const readLedgerEntries = async function* (
  accountId: string,
  first: number,
  last = MAX_ENTRY_NUMBER,
  expected?: number,
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
  for await (const item of queryAll(query, expected)) yield LedgerEntry.parse(item);
};

/**
 * How far entry order and time order can disagree. A writer takes the time before it contends for the
 * account, at most about 4 s earlier, from its own clock.
 */
const SKEW_SECONDS = 60;
/** Entries read in the first call: usually more than an account makes in twice the skew. */
const EXPECTED_ENTRIES = 200;

/**
 * Access pattern 48: the entries about a request, oldest first, strongly consistent. There is no index for
 * them: searches the ledger around the request's creation and its end, which binary search over the entry
 * numbers finds.
 */
export const listEntriesOfRequest = async (
  { accountId, ledgerEntries }: Pick<Account, 'accountId' | 'ledgerEntries'>,
  { requestId, createdAt, finishedAt }: Pick<StoredRequest, 'requestId' | 'createdAt' | 'finishedAt'>,
): Promise<LedgerEntry[]> => {
  const found = new Map<number, LedgerEntry>();
  for (const instant of finishedAt === undefined ? [createdAt] : [createdAt, finishedAt]) {
    const first = await firstEntrySince(accountId, ledgerEntries, addSeconds(instant, -SKEW_SECONDS));
    const until = addSeconds(instant, SKEW_SECONDS);
    for await (const entry of readLedgerEntries(accountId, first, undefined, EXPECTED_ENTRIES)) {
      if (entry.createdAt > until) break;
      if (entry.reference === requestId) found.set(entry.number, entry);
    }
  }
  return [...found.values()].sort((a, b) => a.number - b.number);
};

/**
 * The number of the first entry at or after `instant`, by binary search; one past the newest when there is
 * none.
 */
const firstEntrySince = async (
  accountId: string,
  ledgerEntries: number,
  instant: Instant,
): Promise<number> => {
  let [low, high] = [1, ledgerEntries + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isSince(accountId, middle, instant)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/**
 * Whether an entry is from `instant` or later. A missing one counts as later, so the search continues before
 * it.
 */
const isSince = async (accountId: string, number: number, instant: Instant): Promise<boolean> => {
  const { Item } = await table.send(
    new GetCommand({
      TableName: tableName(),
      Key: ledgerEntryKey(accountId, number),
      ConsistentRead: true,
    }),
  );
  return Item === undefined || LedgerEntry.parse(Item).createdAt >= instant;
};
