import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { ConflictError } from '../../core/errors.ts';
import { type LedgerEntry, renderLedgerEntry } from '../../core/ledger/ledger.ts';
import { readLedgerEntries } from '../../core/ledger/ledger-entries.ts';
import { findFirstEntryFrom } from '../../core/ledger/usage.ts';
import { toXTokens } from '../../core/money.ts';
import { formatCsv } from '../csv.ts';
import { formatEntries } from '../ledger-text.ts';
import { month } from '../options.ts';
import { formatFields } from '../output.ts';
import type { Perform, Verb } from '../verb.ts';

type Month = ReturnType<typeof month>;

/** `balance statement` */
export const addStatementVerb = (statement: Command, perform: Perform): void => {
  statement
    .requiredOption('--month <month>', 'a month in UTC, like 2026-11', month)
    .option('--csv', 'print the entries as CSV')
    .action(perform(show));
};

const signedThousandths = ({ type, amountThousandths }: LedgerEntry): number =>
  type === 'debit' ? -amountThousandths : amountThousandths;

const show: Verb<{ account: string; month: Month; csv?: true }> = async (options, connected) => {
  await connected();
  const { accountId, name, ledgerEntries } = await getAccount(options.account);
  const { from, to } = options.month;
  const [first, end] = await Promise.all([
    findFirstEntryFrom(accountId, ledgerEntries, from),
    findFirstEntryFrom(accountId, ledgerEntries, to),
  ]);
  // The entry before has the balance at the beginning.
  const oldest = Math.max(1, first - 1);
  const entries: LedgerEntry[] = [];
  for await (const entry of readLedgerEntries(accountId, oldest, end - 1)) entries.push(entry);
  if (entries.length < end - oldest) {
    throw new ConflictError('An entry of this ledger cannot be read. See: ledger verify');
  }
  const opening = first > 1 ? (entries.shift()?.balanceAfterThousandths ?? 0) : 0;
  const changes: Record<string, number> = { topup: 0, generation: 0, refund: 0, admin_adjustment: 0 };
  for (const entry of entries)
    changes[entry.reason] = (changes[entry.reason] ?? 0) + signedThousandths(entry);
  const xTokens = Object.fromEntries(Object.entries(changes).map(([key, sum]) => [key, toXTokens(sum)]));
  const value = {
    accountId,
    from: from.slice(0, 10),
    to: to.slice(0, 10),
    openingBalance: toXTokens(opening),
    changes: xTokens,
    closingBalance: toXTokens(entries.at(-1)?.balanceAfterThousandths ?? opening),
    entries: entries.map(renderLedgerEntry),
  };
  const fields = {
    account: `${accountId} (${name})`,
    from: value.from,
    to: `${value.to} (not included)`,
    'opening balance': value.openingBalance,
    'top-ups': xTokens.topup,
    generations: xTokens.generation,
    refunds: xTokens.refund,
    adjustments: xTokens.admin_adjustment,
    'closing balance': value.closingBalance,
  };
  return {
    value,
    text: (columns) =>
      options.csv
        ? formatCsv(
            ['createdAt', 'id', 'reason', 'amount', 'balanceAfter', 'reference'],
            value.entries.map((entry) => [
              ...[entry.createdAt, entry.id, entry.reason],
              ...[entry.type === 'debit' ? -entry.amount : entry.amount, entry.balanceAfter, entry.reference],
            ]),
          )
        : `${formatFields(fields, columns)}\n\n${formatEntries(value.entries, columns)}`,
  };
};
