import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { parseKey } from '../../core/accounts/api-key-text.ts';
import {
  type ApiKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  SCOPES,
  type Scope,
  setDefaultEndUser,
} from '../../core/accounts/api-keys.ts';
import { NotFoundError } from '../../core/errors.ts';
import { email, emailOrNone, namesAmong, note, text } from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `keys create|list|revoke|set-end-user` */
export const addKeyVerbs = (keys: Command, perform: Perform): void => {
  keys
    .command('create')
    .description('create a key; it is shown only once')
    .requiredOption('--account <id>', 'the account', text)
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
  keys
    .command('list')
    .description("an account's keys, oldest first")
    .requiredOption('--account <id>', 'the account', text)
    .action(perform(list));
  keys
    .command('revoke')
    .description('revoke a key for good')
    .option('--key-id <id>', 'the key, by its id', text)
    .option('--key <key>', 'the key, by its text', text)
    .action(perform(revoke));
  keys
    .command('set-end-user')
    .description("set a key's default end-user, for requests of OpenAI's clients")
    .requiredOption('--key-id <id>', 'the key, by its id', text)
    .requiredOption('--end-user <email>', 'the end-user, or none', emailOrNone)
    .action(perform(setEndUser));
};

const create: Verb<{ account: string; scopes?: Scope[]; label?: string; endUser?: string }> = async (
  { account, scopes = SCOPES, label = '', endUser },
  connected,
) => {
  await connected();
  const { accountId, limits } = await getAccount(account);
  const { apiKey, text: key } = await insertApiKey(
    accountId,
    { scopes, label, limits, ...(endUser !== undefined && { defaultEndUser: endUser }) },
    new Date(),
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
  const { accountId } = await getAccount(options.account);
  const apiKeys = await listApiKeys(accountId);
  return {
    value: apiKeys.map(
      ({ keyId, label, scopes, defaultEndUser, last4, createdAt, lastUsedAt, revokedAt }) => ({
        keyId,
        label,
        scopes,
        endUser: defaultEndUser ?? null,
        last4,
        createdAt,
        lastUsedAt: lastUsedAt ?? null,
        revokedAt: revokedAt ?? null,
      }),
    ),
    text: (columns) =>
      formatTable(
        ['key id', 'label', 'scopes', 'end-user', 'ends in', 'created', 'last used', 'revoked'],
        apiKeys.map((apiKey) => [
          apiKey.keyId,
          apiKey.label,
          showScopes(apiKey),
          apiKey.defaultEndUser,
          apiKey.last4,
          apiKey.createdAt,
          apiKey.lastUsedAt,
          apiKey.revokedAt,
        ]),
        columns,
      ),
  };
};

const revoke: Verb<{ keyId?: string; key?: string }> = async ({ keyId, key }, connected) => {
  if ((keyId === undefined) === (key === undefined)) throw new UsageError('give either --key-id or --key');
  await connected();
  const revoked = await revokeApiKey(keyId ?? idOf(key ?? ''), new Date());
  const value = { keyId: revoked.keyId, revokedAt: revoked.revokedAt ?? null };
  return { value, text: (columns) => formatFields(value, columns) };
};

const setEndUser: Verb<{ keyId: string; endUser: string | undefined }> = async (
  { keyId, endUser },
  connected,
) => {
  await connected();
  const apiKey = await setDefaultEndUser(keyId, endUser);
  const value = { keyId: apiKey.keyId, endUser: apiKey.defaultEndUser ?? null };
  return { value, text: (columns) => formatFields(value, columns) };
};

const idOf = (key: string): string => {
  const parsed = parseKey(key);
  if (!parsed) throw new NotFoundError('That text is no API key: its format or checksum is wrong.');
  return parsed.keyId;
};

const showScopes = ({ scopes }: ApiKey): string =>
  scopes.length === SCOPES.length ? 'all' : scopes.join(', ');
