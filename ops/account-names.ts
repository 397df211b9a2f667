import { type Account, listAccounts } from '../core/accounts/accounts.ts';
import { NotFoundError } from '../core/errors.ts';
import { ACCOUNT_ID_PREFIX } from '../core/ids.ts';
import { UsageError } from './usage-error.ts';

/**
 * The options of a command with the id of the account in place of its name. Connects only for a name. Throws `NotFoundError` for an unknown
 * name, and `UsageError` for a name of several accounts.
 */
export const withAccountId = async (
  options: Record<string, unknown>,
  connected: () => Promise<unknown>,
): Promise<Record<string, unknown>> => {
  const { account } = options;
  if (typeof account !== 'string' || account.startsWith(ACCOUNT_ID_PREFIX)) return options;
  await connected();
  return { ...options, account: idNamed(account, await listAccounts()) };
};

/** The id of the account with this name, ignoring case. */
const idNamed = (name: string, accounts: readonly Account[]): string => {
  const wanted = name.trim().toLowerCase();
  const found = accounts.filter((account) => account.name.toLowerCase() === wanted);
  const [only, ...others] = found;
  if (!only) throw new NotFoundError(`There is no account with the id or the name ${name}.`);
  if (others.length === 0) return only.accountId;
  const ids = found.map(({ accountId }) => accountId).join(', ');
  throw new UsageError(`${found.length} accounts are named ${name}: give the id, one of ${ids}.`);
};
