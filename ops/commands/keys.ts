import type { Command } from 'commander';
import { getAccount, keyBudgetOf } from '../../core/accounts/accounts.ts';
import {
  type ApiKey,
  getApiKey,
  insertApiKey,
  listApiKeys,
  parseKey,
  revokeApiKey,
  SCOPES,
  type Scope,
  setDefaultEndUser,
} from '../../core/accounts/api-keys.ts';
import { setKeyBudget } from '../../core/accounts/debit-settings.ts';
import { shownLimits } from '../../core/budgets/budget-rules.ts';
import { readSpending } from '../../core/budgets/spending.ts';
import { NotFoundError } from '../../core/errors.ts';
import { type Thousandths, toXTokens } from '../../core/money.ts';
import { systemClock, toInstant } from '../../core/time.ts';
import { amountOrNothing, email, emailOrNone, namesAmong, note, text } from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `keys create|list|revoke|set-budget|set-end-user` */
export const addKeyVerbs = (keys: Command, perform: Perform): void => {
  about(keys.command('create').description('create a key; it is shown only once'), 'account', 'the account')
    .option(
      '--scopes <names>',
      `its scopes, separated by commas (default: all of ${SCOPES.join(', ')})`,
      namesAmong(SCOPES),
    )
    .option('--label <text>', 'a note on its purpose', note)
    .option(
      '--end-user <email>',
      "its default end-user: whose a request of OpenAI's clients is when `user` is no email address",
      email,
    )
    .action(perform(create));
  about(keys.command('list').description("an account's keys, oldest first"), 'account', 'the account').action(
    perform(list),
  );
  about(
    keys.command('revoke').description('revoke a key for good'),
    'key-id',
    'the key, by its id or by the text that leaked',
    { isRequired: false, isSecret: true },
  )
    .option('--key <key>', 'the key, by its text', text)
    .action(perform(revoke));
  about(
    keys.command('set-budget').description('set what creations with a key may spend, from now on'),
    'key-id',
    'the key, by its id',
  )
    .option('--per-day <xTokens>', 'in a UTC day (default: any amount)', amountOrNothing)
    .option('--per-month <xTokens>', 'in a calendar month, UTC (default: any amount)', amountOrNothing)
    .option('--none', 'any amount')
    .action(perform(setBudget));
  about(
    keys
      .command('set-end-user')
      .description("set a key's default end-user, for requests of OpenAI's clients"),
    'key-id',
    'the key, by its id',
  )
    .requiredOption('--end-user <email>', 'the end-user, or none', emailOrNone)
    .action(perform(setEndUser));
};

const create: Verb<{ account: string; scopes?: Scope[]; label?: string; endUser?: string }> = async (
  { account, scopes = SCOPES, label = '', endUser },
  connected,
  { recorder },
) => {
  await connected();
  const { accountId, limits } = await getAccount(account);
  const { write } = await recorder();
  const { apiKey, text: key } = await insertApiKey(
    accountId,
    { scopes, label, limits, ...(endUser !== undefined && { defaultEndUser: endUser }) },
    new Date(),
    (subject) => write({ accountId, subject, ...(label !== '' && { detail: `label "${label}"` }) }),
  );
  const { keyId, createdAt } = apiKey;
  const ofEndUser = endUser === undefined ? {} : { endUser };
  return {
    value: { keyId, key, scopes: apiKey.scopes, label, ...ofEndUser, createdAt },
    text: (columns) => {
      const fields = { keyId, key, scopes: showScopes(apiKey), label, ...ofEndUser, createdAt };
      return `${formatFields(fields, columns)}\n\nKeep the key: it is not shown again.`;
    },
  };
};

const list: Verb<{ account: string }> = async (options, connected) => {
  await connected();
  const account = await getAccount(options.account);
  const apiKeys = await listApiKeys(account.accountId);
  return {
    value: apiKeys.map(
      ({ keyId, label, scopes, defaultEndUser, last4, createdAt, lastUsedAt, revokedAt }) => {
        const budget = keyBudgetOf(account, keyId);
        return {
          keyId,
          label,
          scopes,
          last4,
          createdAt,
          lastUsedAt: lastUsedAt ?? null,
          revokedAt: revokedAt ?? null,
          ...(defaultEndUser !== undefined && { endUser: defaultEndUser }),
          ...(budget && { budget: shownLimits(budget) }),
        };
      },
    ),
    text: (columns) =>
      formatTable(
        [{ id: 'key id' }, 'label', 'scopes', 'ends in', 'created', 'last used', 'revoked'],
        apiKeys.map((apiKey) => [
          apiKey.keyId,
          apiKey.label,
          showScopes(apiKey),
          apiKey.last4,
          apiKey.createdAt,
          apiKey.lastUsedAt,
          apiKey.revokedAt,
        ]),
        columns,
      ),
  };
};

const revoke: Verb<{ keyId?: string; key?: string }> = async ({ keyId, key }, connected, { recorder }) => {
  if ((keyId === undefined) === (key === undefined)) {
    throw new UsageError('Give the key, by either --key-id or --key: ops keys revoke key_0f3c…');
  }
  await connected();
  const given = keyId ?? key ?? '';
  const id = parseKey(given)?.keyId ?? (key === undefined ? keyIdOnly(given) : keyIdOf(key));
  const apiKey = await getApiKey(id);
  const isRepeated = apiKey.revokedAt !== undefined;
  const { keyId: subject, accountId } = apiKey;
  const { revokedAt } = isRepeated
    ? apiKey
    : await revokeApiKey(id, new Date(), (await recorder()).write({ accountId, subject }));
  const value = { keyId: subject, revokedAt: revokedAt ?? null };
  return {
    value,
    text: (columns) =>
      `${formatFields(value, columns)}${isRepeated ? '\n\nThe key was revoked before: nothing is changed.' : ''}`,
  };
};

const setBudget: Verb<{ keyId: string; perDay?: Thousandths; perMonth?: Thousandths; none?: true }> = async (
  { keyId, perDay, perMonth, none },
  connected,
  { recorder },
) => {
  const isLimited = perDay !== undefined || perMonth !== undefined;
  if (isLimited === (none === true)) {
    throw new UsageError(
      'Give --per-day, --per-month or both, or --none: ops keys set-budget key_0f3c… --none',
    );
  }
  await connected();
  const found = await getApiKey(keyId);
  const budget = {
    ...(perDay !== undefined && { perDayThousandths: perDay }),
    ...(perMonth !== undefined && { perMonthThousandths: perMonth }),
  };
  const value = { keyId, ...shownLimits(budget) };
  const { write } = await recorder();
  const detail = `per day ${value.perDay ?? 'any'}, per month ${value.perMonth ?? 'any'}`;
  const extraWrites = write({ accountId: found.accountId, subject: keyId, detail });
  await setKeyBudget(found, isLimited ? budget : undefined, extraWrites);
  const spent = await readSpending(found.accountId, keyId, toInstant(systemClock.now()));
  const spending = {
    spentToday: toXTokens(spent.dayThousandths),
    spentThisMonth: toXTokens(spent.monthThousandths),
  };
  const shown = { ...value, ...spending };
  return { value: shown, text: (columns) => formatFields(shown, columns) };
};

const setEndUser: Verb<{ keyId: string; endUser: string }> = async (
  { keyId, endUser },
  connected,
  { recorder },
) => {
  const address = endUser === 'none' ? undefined : endUser;
  await connected();
  const found = await getApiKey(keyId);
  // Without the address: the record outlives the end-user.
  const detail = `end-user ${address === undefined ? 'none' : 'set'}`;
  const extraWrites = (await recorder()).write({ accountId: found.accountId, subject: keyId, detail });
  await setDefaultEndUser(keyId, address, extraWrites);
  const value = { keyId, endUser: address ?? null };
  return { value, text: (columns) => formatFields(value, columns) };
};

/** A text that may be a secret, in part or misspelt, is not repeated in an error. */
const keyIdOnly = (given: string): string => {
  if (/^key_[0-9a-z]+$/.test(given)) return given;
  throw new UsageError('That text is neither the id of a key nor a whole API key: its checksum is wrong.');
};

const keyIdOf = (key: string): string => {
  const parsed = parseKey(key);
  if (!parsed) throw new NotFoundError('That text is no API key: its format or checksum is wrong.');
  return parsed.keyId;
};

const showScopes = ({ scopes }: ApiKey): string =>
  scopes.length === SCOPES.length ? 'all' : scopes.join(', ');
