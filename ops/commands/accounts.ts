import type { Command } from 'commander';
import {
  type Account,
  blockAccount,
  getAccount,
  insertAccount,
  listAccounts,
  rotateWebhookSecret,
  setAccountLimits,
  unblockAccount,
} from '../../core/accounts/accounts.ts';
import { setKeyLimits } from '../../core/accounts/api-keys.ts';
import { toXTokens } from '../../core/money.ts';
import { burst, name, requestsPerSecond, text } from '../options.ts';
import { formatFields, formatTable, type Result } from '../output.ts';
import type { Perform, Verb } from '../verb.ts';

/** `accounts create|list|show|block|unblock|set-limits|rotate-webhook-secret` */
export const addAccountVerbs = (accounts: Command, perform: Perform): void => {
  accounts
    .command('create')
    .description('create an account with a balance of 0')
    .requiredOption('--name <name>', 'its name', name)
    .action(perform(create));
  accounts.command('list').description('all accounts, oldest first').action(perform(list));
  accounts
    .command('show')
    .description('one account')
    .requiredOption('--account <id>', 'the account', text)
    .action(perform(show));
  accounts
    .command('block')
    .description('refuse every call by the account')
    .requiredOption('--account <id>', 'the account', text)
    .action(perform(block));
  accounts
    .command('unblock')
    .description('accept calls by the account again')
    .requiredOption('--account <id>', 'the account', text)
    .action(perform(unblock));
  accounts
    .command('set-limits')
    .description('limit the rate of requests by each of its keys')
    .requiredOption('--account <id>', 'the account', text)
    .requiredOption('--requests-per-second <number>', 'sustained rate', requestsPerSecond)
    .requiredOption('--burst <number>', 'requests allowed at once', burst)
    .action(perform(setLimits));
  accounts
    .command('rotate-webhook-secret')
    .description('create a new webhook secret; the previous one stays valid for 24 h')
    .requiredOption('--account <id>', 'the account', text)
    .action(perform(rotateSecret));
};

/** The fields of an account that operators see. */
const summaryOf = (account: Account) => ({
  accountId: account.accountId,
  name: account.name,
  xTokens: toXTokens(account.balanceThousandths),
  createdAt: account.createdAt,
  blockedAt: account.blockedAt ?? null,
});

const create: Verb<{ name: string }> = async ({ name }, connected) => {
  await connected();
  const account = await insertAccount(name, new Date());
  const { accountId, xTokens, createdAt } = summaryOf(account);
  const value = { accountId, name, xTokens, webhookSecret: account.webhookSecret, createdAt };
  return { value, text: (columns) => formatFields(value, columns) };
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const value = (await listAccounts()).map(summaryOf);
  return {
    value,
    text: (columns) =>
      formatTable(
        ['account', 'name', 'xTokens', 'created', 'blocked'],
        value.map(({ accountId, name, xTokens, createdAt, blockedAt }) => [
          accountId,
          name,
          xTokens,
          createdAt,
          blockedAt,
        ]),
        columns,
      ),
  };
};

const show: Verb<{ account: string }> = async (options, connected) => {
  await connected();
  const account = await getAccount(options.account);
  const { limits, ledgerEntries } = account;
  const summary = summaryOf(account);
  return {
    value: { ...summary, limits, ledgerEntries },
    text: (columns) =>
      formatFields(
        {
          ...summary,
          limits: `${limits.requestsPerSecond} requests a second, bursts of ${limits.burst}`,
          ledgerEntries,
        },
        columns,
      ),
  };
};

const blockedState = (account: Account): Result => {
  const value = { accountId: account.accountId, blockedAt: account.blockedAt ?? null };
  return { value, text: (columns) => formatFields(value, columns) };
};

const block: Verb<{ account: string }> = async ({ account }, connected) => {
  await connected();
  return blockedState(await blockAccount(account, new Date()));
};

const unblock: Verb<{ account: string }> = async ({ account }, connected) => {
  await connected();
  return blockedState(await unblockAccount(account));
};

const setLimits: Verb<{ account: string; requestsPerSecond: number; burst: number }> = async (
  { account: accountId, ...limits },
  connected,
) => {
  await connected();
  const account = await setAccountLimits(accountId, {
    requestsPerSecond: limits.requestsPerSecond,
    burst: limits.burst,
  });
  await setKeyLimits(accountId, account.limits);
  return {
    value: { accountId, limits: account.limits },
    text: (columns) => formatFields({ accountId, ...account.limits }, columns),
  };
};

const rotateSecret: Verb<{ account: string }> = async ({ account }, connected) => {
  await connected();
  const {
    accountId,
    webhookSecret,
    previousValidUntil = null,
  } = await rotateWebhookSecret(account, new Date());
  const value = { accountId, webhookSecret, previousValidUntil };
  return { value, text: (columns) => formatFields(value, columns) };
};
