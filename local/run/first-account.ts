import { join } from 'node:path';
import { runScript } from './child.ts';
import type { FirstAccount } from './data-directory.ts';

/**
 * Creates the account `demo` with a key and 1,000 xTokens, through the operators' commands, on the run that `dataDirectory` describes. In a
 * process of its own: the commands change the environment. Rejects when one fails.
 */
export const createFirstAccount = async (
  dataDirectory: string,
  signal?: AbortSignal,
): Promise<FirstAccount> =>
  JSON.parse(await runScript(join('ops', 'demo-account.ts'), [dataDirectory], { signal }));
