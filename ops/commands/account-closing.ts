import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { systemClock } from '../../core/time.ts';
import { closeAccount, type RecordChange } from '../close-account.ts';
import { formatFields } from '../output.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `accounts close` */
export const addCloseVerb = (
  verb: (name: string, description: string) => Command,
  perform: Perform,
): void => {
  verb('close', 'revoke its keys, erase its end-users').option('--yes', 'do it').action(perform(close));
};

const close: Verb<{ account: string; yes?: true }> = async ({ account, yes }, connected, { recorder }) => {
  await connected();
  const { accountId, name, ledgerEntries } = await getAccount(account);
  if (!yes) {
    throw new UsageError(
      `This closes account ${accountId} (${name}): its keys are revoked, its end-users erased. Give --yes to do it.`,
    );
  }
  const { write } = await recorder();
  const record: RecordChange = (detail, subject) =>
    write({ accountId, detail, ...(subject !== undefined && { subject }) });
  const { unfinishedEndUsers, ...closed } = await closeAccount(accountId, record, systemClock);
  const stays = `the account with its name, contact and note; ${ledgerEntries} ledger entries; the audit`;
  const value = { accountId, ...closed, unfinishedEndUsers, stays };
  const unfinished = unfinishedEndUsers.length;
  return {
    value,
    text: (columns) =>
      formatFields({ ...value, unfinishedEndUsers: unfinishedEndUsers.join(', ') || null }, columns),
    ...(unfinished > 0 && {
      failure: `End-users with unfinished requests: ${unfinished}. Repeat the command once these have ended.`,
    }),
  };
};
