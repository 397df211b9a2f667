import type { BalanceHistoryEntry } from '../core/ledger/balance-answers.ts';
import { formatTable } from './output.ts';

/** Ledger entries as a table; what a debit took is negative. */
export const formatEntries = (entries: readonly BalanceHistoryEntry[], columns: number | undefined): string =>
  formatTable(
    ['time', { id: 'entry' }, 'reason', 'amount', 'balance after', { id: 'reference' }],
    entries.map(({ id, type, reason, amount, balanceAfter, reference, createdAt }) => [
      createdAt,
      id,
      reason,
      type === 'debit' ? -amount : amount,
      balanceAfter,
      reference,
    ]),
    columns,
  );
