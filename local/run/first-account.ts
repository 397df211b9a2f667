import { join } from 'node:path';
import { runScript } from './child.ts';
import type { FirstAccount } from './data-directory.ts';

/** The first account's balance. */
const FIRST_BALANCE_XTOKENS = 1_000;

/**
 * Creates the account `demo` with a key and 1,000 xTokens, through the operators' command line, on the run that `dataDirectory` describes.
 * Rejects when a command fails.
 */
export const createFirstAccount = async (
  dataDirectory: string,
  signal?: AbortSignal,
): Promise<FirstAccount> => {
  const ops = async (...args: string[]) =>
    JSON.parse(
      await runScript(join('ops', 'main.ts'), [...args, '--json', '--data-dir', dataDirectory], { signal }),
    );
  const { accountId, webhookSecret } = await ops('accounts', 'create', '--name', 'demo');
  const [{ key }] = await Promise.all([
    ops('keys', 'create', '--account', accountId, '--label', 'demo'),
    ops(
      ...['balance', 'topup', '--account', accountId],
      ...['--amount', String(FIRST_BALANCE_XTOKENS), '--note', 'first start'],
    ),
  ]);
  return { accountId, apiKey: key, webhookSecret };
};
