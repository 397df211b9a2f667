import { type Command, Option } from 'commander';
import {
  type Account,
  type AccountDetails,
  blockAccount,
  getAccount,
  insertAccount,
  listAccounts,
  rotateWebhookSecret,
  setAccountDetails,
  setAccountLimits,
  unblockAccount,
} from '../../core/accounts/accounts.ts';
import { setKeyLimits } from '../../core/accounts/api-keys.ts';
import { newAccountId } from '../../core/ids.ts';
import { toXTokens } from '../../core/money.ts';
import { burst, name, note, oneOf, requestsPerSecond, text } from '../options.ts';
import { formatFields, formatNumber, formatTable, type Result } from '../output.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';
import { addCloseVerb } from './account-closing.ts';
import { addAccountWebhookVerbs, shownWebhook } from './account-webhooks.ts';

/** Orders of the list. */
const ORDERS = ['created', 'balance', 'name'] as const;
type Order = (typeof ORDERS)[number];

/** `accounts create|list|show|edit|block|unblock|close|set-limits|rotate-webhook-secret`, and those of the account's webhook. */
export const addAccountVerbs = (accounts: Command, perform: Perform): void => {
  const verb = (name: string, description: string): Command =>
    about(accounts.command(name).description(description), 'account', 'the account');
  accounts
    .command('create')
    .description('create an account with a balance of 0')
    .requiredOption('--name <name>', 'its name', name)
    .option('--contact <text>', 'who to write to', note)
    .option('--note <text>', 'what staff should know', note)
    .action(perform(create));
  accounts
    .command('list')
    .description('all accounts, oldest first')
    .addOption(
      new Option('--sort <order>', 'balance: the lowest first')
        .choices(ORDERS)
        .default('created')
        .argParser((value) => oneOf(ORDERS, value)),
    )
    .option('--search <text>', 'only those with this in id, name, contact or note', text)
    .action(perform(list));
  verb('show', 'one account').action(perform(show));
  verb('edit', 'set what staff writes about an account')
    .option('--name <name>', 'its name', name)
    .option('--contact <text>', "who to write to; '' removes it", note)
    .option('--note <text>', "what staff should know; '' removes it", note)
    .action(perform(edit));
  verb('block', 'refuse every call by the account').action(perform(block));
  verb('unblock', 'accept calls by the account again').action(perform(unblock));
  addCloseVerb(verb, perform);
  verb('set-limits', 'limit the rate of requests by each of its keys')
    .requiredOption('--requests-per-second <number>', 'sustained rate', requestsPerSecond)
    .requiredOption('--burst <number>', 'requests allowed at once', burst)
    .action(perform(setLimits));
  verb('rotate-webhook-secret', 'create a new webhook secret; the previous one stays valid for 24 h').action(
    perform(rotateSecret),
  );
  addAccountWebhookVerbs(verb, perform);
};

/** The fields of an account that operators see. */
const summaryOf = (account: Account) => ({
  accountId: account.accountId,
  name: account.name,
  xTokens: toXTokens(account.balanceThousandths),
  createdAt: account.createdAt,
  blockedAt: account.blockedAt ?? null,
  ...(account.contact !== undefined && { contact: account.contact }),
  ...(account.note !== undefined && { note: account.note }),
});

const create: Verb<{ name: string; contact?: string; note?: string }> = async (
  { name, contact, note },
  connected,
  { recorder },
) => {
  await connected();
  const now = new Date();
  const accountId = newAccountId(now);
  const extraWrites = (await recorder()).write({ accountId, detail: detailOf({ name, contact, note }) });
  const account = await insertAccount(name, now, { accountId, contact, note, extraWrites });
  const { xTokens, createdAt } = summaryOf(account);
  const value = { accountId, name, xTokens, webhookSecret: account.webhookSecret, createdAt };
  return { value, text: (columns) => formatFields(value, columns) };
};

const detailOf = (details: AccountDetails): string =>
  Object.entries(details)
    .flatMap(([field, value]) => (value === undefined ? [] : [`${field} "${value}"`]))
    .join(', ');

const list: Verb<{ sort: Order; search?: string }> = async ({ sort, search }, connected) => {
  await connected();
  const wanted = search?.toLowerCase();
  const value = (await listAccounts())
    .filter(({ accountId, name, contact = '', note = '' }) =>
      wanted === undefined
        ? true
        : [accountId, name, contact, note].some((field) => field.toLowerCase().includes(wanted)),
    )
    .map(summaryOf)
    .sort((a, b) => {
      if (sort === 'balance') return a.xTokens - b.xTokens;
      return sort === 'name' ? a.name.localeCompare(b.name, 'en') : 0;
    });
  const hasText = value.some(({ contact, note }) => contact !== undefined || note !== undefined);
  return {
    value,
    text: (columns) =>
      formatTable(
        [
          ...[{ id: 'account' }, 'name', 'xTokens', 'created', 'blocked'],
          ...(hasText ? ['contact', 'note'] : []),
        ],
        value.map(({ accountId, name, xTokens, createdAt, blockedAt, contact, note }) => [
          ...[accountId, name, xTokens, createdAt, blockedAt],
          ...(hasText ? [contact, note] : []),
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
  const webhook = account.balanceWebhook && shownWebhook(account);
  return {
    value: { ...summary, limits, ledgerEntries, ...(webhook && { webhook }) },
    text: (columns) =>
      formatFields(
        {
          ...summary,
          limits: `${formatNumber(limits.requestsPerSecond)} requests a second, bursts of ${formatNumber(limits.burst)}`,
          ledgerEntries,
          ...(webhook && { webhook: `${webhook.url}, below ${webhook.below}` }),
        },
        columns,
      ),
  };
};

const edit: Verb<{ account: string } & AccountDetails> = async (
  { account: accountId, name, contact, note },
  connected,
  { recorder },
) => {
  const details = { name, contact, note };
  if (detailOf(details) === '') throw new UsageError('Give what to set: --name, --contact or --note.');
  await connected();
  const extraWrites = (await recorder()).write({ accountId, detail: detailOf(details) });
  const value = summaryOf(await setAccountDetails(accountId, details, extraWrites));
  return { value, text: (columns) => formatFields(value, columns) };
};

const blockedState = (account: Account): Result => {
  const value = { accountId: account.accountId, blockedAt: account.blockedAt ?? null };
  return { value, text: (columns) => formatFields(value, columns) };
};

const block: Verb<{ account: string }> = async ({ account: accountId }, connected, { recorder }) => {
  await connected();
  return blockedState(await blockAccount(accountId, new Date(), (await recorder()).write({ accountId })));
};

const unblock: Verb<{ account: string }> = async ({ account: accountId }, connected, { recorder }) => {
  await connected();
  return blockedState(await unblockAccount(accountId, (await recorder()).write({ accountId })));
};

const setLimits: Verb<{ account: string; requestsPerSecond: number; burst: number }> = async (
  { account: accountId, requestsPerSecond, burst },
  connected,
  { recorder },
) => {
  await connected();
  const detail = `${requestsPerSecond} requests a second, bursts of ${burst}`;
  const extraWrites = (await recorder()).write({ accountId, detail });
  const account = await setAccountLimits(accountId, { requestsPerSecond, burst }, extraWrites);
  await setKeyLimits(accountId, account.limits);
  return {
    value: { accountId, limits: account.limits },
    text: (columns) => formatFields({ accountId, ...account.limits }, columns),
  };
};

const rotateSecret: Verb<{ account: string }> = async ({ account: accountId }, connected, { recorder }) => {
  await connected();
  const extraWrites = (await recorder()).write({ accountId });
  const { webhookSecret, previousValidUntil = null } = await rotateWebhookSecret(
    accountId,
    new Date(),
    extraWrites,
  );
  const value = { accountId, webhookSecret, previousValidUntil };
  return { value, text: (columns) => formatFields(value, columns) };
};
