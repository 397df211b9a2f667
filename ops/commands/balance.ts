import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { changeBalance, listLedgerEntries, renderLedgerEntry } from '../../core/ledger/ledger.ts';
import type { Thousandths } from '../../core/money.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, mapPage } from '../../core/table/pages.ts';
import { formatEntries } from '../ledger-text.ts';
import {
  idempotencyKey,
  note as noteText,
  pageNumber,
  pageSize,
  positiveAmount,
  signedAmount,
  text,
} from '../options.ts';
import { formatFields } from '../output.ts';
import type { Perform, Verb } from '../verb.ts';

const NOTE_HELP = 'reference of the entry; the customer reads it';
const KEY_HELP = 'given again in the same account, the first entry is printed and nothing changes';

/** `balance topup|adjust|history` */
export const addBalanceVerbs = (balance: Command, perform: Perform): void => {
  balance
    .command('topup')
    .description('add xTokens to the balance')
    .requiredOption('--account <id>', 'the account', text)
    .requiredOption('--amount <xTokens>', 'the amount, with at most 3 decimals', positiveAmount)
    .option('--note <text>', NOTE_HELP, noteText)
    .option('--idempotency-key <text>', KEY_HELP, idempotencyKey)
    .action(perform(changeWith('topup')));
  balance
    .command('adjust')
    .description('correct the balance; it cannot go below 0')
    .requiredOption('--account <id>', 'the account', text)
    .requiredOption('--amount <xTokens>', 'the amount; negative to deduct', signedAmount)
    .option('--note <text>', NOTE_HELP, noteText)
    .option('--idempotency-key <text>', KEY_HELP, idempotencyKey)
    .action(perform(changeWith('admin_adjustment')));
  balance
    .command('history')
    .description('ledger entries, newest first')
    .requiredOption('--account <id>', 'the account', text)
    .option('--page <number>', 'page number, from 1', pageNumber, 1)
    .option('--page-size <number>', `entries per page, at most ${MAX_PAGE_SIZE}`, pageSize, DEFAULT_PAGE_SIZE)
    .action(perform(history));
};

interface Change {
  account: string;
  amount: Thousandths;
  note?: string;
  idempotencyKey?: string;
}

const changeWith =
  (reason: 'topup' | 'admin_adjustment'): Verb<Change> =>
  async ({ account, amount, note = '', idempotencyKey }, connected) => {
    await connected();
    const change = { amountThousandths: amount, reason, reference: note, idempotencyKey };
    const entry = await changeBalance(account, change, new Date());
    const value = renderLedgerEntry(entry);
    return { value, text: (columns) => formatFields({ ...value }, columns) };
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
