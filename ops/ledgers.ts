import { type AccountPosition, listAccountIds } from '../core/accounts/accounts.ts';
import type { LedgerProgress } from '../core/ledger/verify-ledger.ts';

/** Accounts of a page of the list. */
const LISTED_AT_ONCE = 1_000;

/** The ledgers of all accounts, oldest first, also of accounts that cannot be read. Eventually consistent. */
export const listAllLedgers = async (): Promise<LedgerProgress[]> => {
  const ledgers: LedgerProgress[] = [];
  let position: AccountPosition | undefined;
  do {
    const { accountIds, next } = await listAccountIds(LISTED_AT_ONCE, position);
    ledgers.push(...accountIds.map((accountId) => ({ accountId })));
    position = next;
  } while (position);
  return ledgers;
};
