import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Account } from '../accounts/accounts.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { ledgerEntryKey, ledgerEntrySort, ledgerPartition, MAX_ENTRY_NUMBER } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { table, tableName } from '../table/table.ts';
import { addSeconds, type Instant } from '../time.ts';
import { LedgerEntry } from './ledger.ts';

/** Access pattern 16: the entries of a ledger from one number to another, oldest first, strongly consistent. */
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
 * How far the order of entries and that of their times can disagree: an entry has the time its writer took
 * before it contended for the account, some 4 s at most, by a clock of its own.
 */
const SKEW_SECONDS = 60;
/** How many entries a first call asks for: mostly more than an account makes in twice the skew. */
const EXPECTED_ENTRIES = 200;

/**
 * Access pattern 17: the entries about a request, oldest first, strongly consistent. No index names them:
 * they are looked for around the request's creation and its end, found by halving the entry numbers.
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

/** The number of the first entry made at `instant` or after it, by halving; one past the newest when there is none. */
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

/** Whether an entry was made at `instant` or after it. One that is missing counts as such: then looking begins before it. */
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
