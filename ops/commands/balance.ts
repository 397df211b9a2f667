import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { newLedgerEntryId } from '../../core/ids.ts';
import { changeBalance } from '../../core/ledger/change-balance.ts';
import { listLedgerEntries, renderLedgerEntry } from '../../core/ledger/ledger.ts';
import { type Thousandths, toXTokens } from '../../core/money.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, mapPage } from '../../core/table/pages.ts';
import { formatEntries } from '../ledger-text.ts';
import {
  idempotencyKey,
  note as noteText,
  pageNumber,
  pageSize,
  positiveAmount,
  signedAmount,
} from '../options.ts';
import { formatFields, formatNumber } from '../output.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';
import { addStatementVerb } from './statement.ts';

const NOTE_HELP = 'reference of the entry; the customer reads it';
const KEY_HELP = 'given again in the same account, nothing changes';

/** `balance topup|adjust|history|statement` */
export const addBalanceVerbs = (balance: Command, perform: Perform): void => {
  const verb = (name: string, description: string): Command =>
    about(balance.command(name).description(description), 'account', 'the account');
  verb('topup', 'add xTokens to the balance')
    .requiredOption('--amount <xTokens>', 'the amount, with at most 3 decimals', positiveAmount)
    .option('--note <text>', NOTE_HELP, noteText)
    .option('--idempotency-key <text>', KEY_HELP, idempotencyKey)
    .action(perform(changeWith('topup')));
  verb('adjust', 'correct the balance; it cannot go below 0')
    .requiredOption('--amount <xTokens>', 'the amount; negative to deduct', signedAmount)
    .option('--note <text>', NOTE_HELP, noteText)
    .option('--idempotency-key <text>', KEY_HELP, idempotencyKey)
    .action(perform(changeWith('admin_adjustment')));
  verb('history', 'ledger entries, newest first')
    .option('--page <number>', 'page number, from 1', pageNumber, 1)
    .option('--page-size <number>', `entries per page, at most ${MAX_PAGE_SIZE}`, pageSize, DEFAULT_PAGE_SIZE)
    .action(perform(history));
  addStatementVerb(verb('statement', 'the entries of a month between two balances'), perform);
};

interface Change {
  account: string;
  amount: Thousandths;
  note?: string;
  idempotencyKey?: string;
}

const changeWith =
  (reason: 'topup' | 'admin_adjustment'): Verb<Change> =>
  async ({ account: accountId, amount, note = '', idempotencyKey }, connected, { recorder }) => {
    await connected();
    const now = new Date();
    const entryId = newLedgerEntryId(now);
    const detail = `${formatNumber(toXTokens(amount))} xTokens${note === '' ? '' : `, "${note}"`}`;
    const extraWrites = (await recorder()).write({ accountId, subject: entryId, detail });
    const change = {
      amountThousandths: amount,
      reason,
      reference: note,
      idempotencyKey,
      entryId,
      extraWrites,
    };
    const entry = await changeBalance(accountId, change, now);
    const value = renderLedgerEntry(entry);
    if (entry.id === entryId) return { value, text: (columns) => formatFields({ ...value }, columns) };
    const repeated = `Nothing changed: this idempotency key made this entry at ${entry.createdAt}.`;
    return { value, text: (columns) => `${repeated}\n\n${formatFields({ ...value }, columns)}` };
  };

const history: Verb<{ account: string; page: number; pageSize: number }> = async (options, connected) => {
  await connected();
  const { accountId, ledgerEntries } = await getAccount(options.account);
  const { page, pageSize } = options;
  const entries = await listLedgerEntries(accountId, { page, pageSize }, ledgerEntries);
  const value = mapPage(entries, renderLedgerEntry);
  const more = value.hasMore ? `\n\nMore on --page ${page + 1}.` : '';
  return { value, text: (columns) => formatEntries(value.items, columns) + more };
};
