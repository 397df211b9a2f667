import type { Account } from '../../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES, type Scope } from '../../../core/accounts/api-keys.ts';
import { accountKey, apiKeyKey } from '../../../core/table/keys.ts';
import type { MemoryTable } from '../fakes/memory-table.ts';
import { NOW } from './clocks.ts';
import { anAccount } from './entities.ts';

/** Puts an account with a key into the table. Returns the key's id and the headers that carry the key. */
export const aCaller = async (
  memory: MemoryTable,
  options: {
    account?: Partial<Account>;
    scopes?: readonly Scope[];
    requestsPerSecond?: number;
    burst?: number;
    /** Whether the key has used up its rate limit. */
    isExhausted?: boolean;
  } = {},
): Promise<{ keyId: string; headers: Record<string, string> }> => {
  const account = anAccount(options.account);
  memory.put(accountKey(account.accountId), account);
  const limits = { requestsPerSecond: options.requestsPerSecond ?? 50, burst: options.burst ?? 100 };
  const { apiKey, text } = await insertApiKey(
    account.accountId,
    { scopes: options.scopes ?? SCOPES, label: '', limits },
    NOW,
  );
  const never = Date.parse('2999-01-01T00:00:00.000Z');
  if (options.isExhausted)
    memory.patch(apiKeyKey(apiKey.keyId), { tat: never, allowAt: never, spareMs: never });
  return { keyId: apiKey.keyId, headers: { Authorization: `Bearer ${text}` } };
};
