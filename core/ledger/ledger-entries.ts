import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Account } from '../accounts/accounts.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { ledgerEntryKey, ledgerEntrySort, ledgerPartition, MAX_ENTRY_NUMBER } from '../table/keys.ts';
import { queryAll } from '../table/queries.ts';
import { table, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import { LedgerEntry } from './ledger.ts';
import type { LedgerReason } from './ledger-reasons.ts';

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

/** Entries read in the first call: more than usually contend for an account at once. */
const EXPECTED_ENTRIES = 50;

/**
 * Access pattern 48: the debit of a request and, once it has ended with one, its refund, strongly consistent.
 * There is no index for them: an entry is dated by its request's creation or end, or by an entry before it,
 * and instants never decrease along the numbers. So binary search finds where to read on from.
 */
export const listEntriesOfRequest = async (
  { accountId, ledgerEntries }: Pick<Account, 'accountId' | 'ledgerEntries'>,
  {
    requestId,
    createdAt,
    finishedAt,
    refundThousandths = 0,
  }: Pick<StoredRequest, 'requestId' | 'createdAt' | 'finishedAt' | 'refundThousandths'>,
): Promise<LedgerEntry[]> => {
  const findEntry = async (reason: LedgerReason, instant: Instant): Promise<LedgerEntry[]> => {
    const first = await firstEntrySince(accountId, ledgerEntries, instant);
    for await (const entry of readLedgerEntries(accountId, first, undefined, EXPECTED_ENTRIES)) {
      if (entry.reference === requestId && entry.reason === reason) return [entry];
    }
    return [];
  };
  const debit = await findEntry('generation', createdAt);
  if (finishedAt === undefined || refundThousandths === 0) return debit;
  return [...debit, ...(await findEntry('refund', finishedAt))];
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
