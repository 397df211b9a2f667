import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { verifyLedger } from '../../core/ledger/verify-ledger.ts';
import { listAllLedgers } from '../ledgers.ts';
import { formatTable } from '../output.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';

/** `ledger verify` */
export const addLedgerVerbs = (ledger: Command, perform: Perform): void => {
  const command = ledger.command('verify').description('check every entry against balances and requests');
  about(command, 'account', 'only this account', { isRequired: false })
    .option('--full', 'the same: every entry is always checked')
    .action(perform(verify));
};

const verify: Verb<{ account?: string }> = async ({ account }, connected, { say }) => {
  await connected();
  const accounts = account === undefined ? await listAllLedgers() : [await getAccount(account)];
  const value = await verifyLedger(saying(accounts, say));
  const { entries, problems } = value;
  const read = `Read ${count(entries, 'entry', 'entries')} of ${count(value.accounts, 'account', 'accounts')}`;
  if (problems.length === 0) return { value, text: `${read}: all add up.` };
  return {
    value,
    text: (columns) => {
      const rows = problems.map(({ accountId, kind, detail }) => [accountId, kind, detail]);
      return `${read}.\n\n${formatTable([{ id: 'account' }, 'kind', 'detail'], rows, columns)}`;
    },
    failure: `The ledger has ${count(problems.length, 'problem', 'problems')}.`,
  };
};

/** The accounts one after another, each announced when it is taken. */
const saying = function* <Item>(accounts: readonly Item[], say: (text: string) => void): Generator<Item> {
  for (const [index, account] of accounts.entries()) {
    say(`account ${index + 1} of ${accounts.length}`);
    yield account;
  }
};

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
