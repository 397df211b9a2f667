import type { Command } from 'commander';
import { getAccount, listAccounts } from '../../core/accounts/accounts.ts';
import { verifyLedger } from '../../core/ledger/verify-ledger.ts';
import { text } from '../options.ts';
import { formatTable } from '../output.ts';
import type { Perform, Verb } from '../verb.ts';

/** `ledger verify` */
export const addLedgerVerbs = (ledger: Command, perform: Perform): void => {
  ledger
    .command('verify')
    .description('replay every entry and check it against balances and requests')
    .option('--account <id>', 'only this account', text)
    .action(perform(verify));
};

const verify: Verb<{ account?: string }> = async ({ account }, connected) => {
  await connected();
  const value = await verifyLedger(
    account === undefined ? await listAccounts() : [await getAccount(account)],
  );
  const { accounts, entries, problems } = value;
  const read = `Read ${count(entries, 'entry', 'entries')} of ${count(accounts, 'account', 'accounts')}`;
  if (problems.length === 0) return { value, text: `${read}: all add up.` };
  const table = formatTable(
    ['account', 'kind', 'detail'],
    problems.map(({ accountId, kind, detail }) => [accountId, kind, detail]),
  );
  return {
    value,
    text: `${read}.\n\n${table}`,
    failure: `The ledger has ${count(problems.length, 'problem', 'problems')}.`,
  };
};

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
