import { type Account, findAccount } from '../../core/accounts/accounts.ts';
import { consumeApiKey, parseKey, type Scope } from '../../core/accounts/api-keys.ts';
import {
  AccountBlockedError,
  ForbiddenError,
  RateLimitedError,
  UnauthorizedError,
} from '../../core/errors.ts';
import { logger } from '../../core/observability.ts';
import type { ApiRequest } from './api-request.ts';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Finds out who calls and loads what the route needs, in one parallel round trip: the look-up of the key,
 * which also counts the request against its rate, the account, and whatever `load` asks for.
 *
 * Refusals come in this order: `UnauthorizedError` (absent, malformed, unknown or revoked key; a malformed
 * one costs no look-up), `AccountBlockedError`, `ForbiddenError` (scope), `RateLimitedError`; only then what
 * `load` itself throws.
 */
export const authorize = async <T>(
  request: ApiRequest,
  scope: Scope,
  load: (accountId: string) => Promise<T>,
): Promise<{ account: Account; loaded: T }> => {
  const parsed = parseKey(BEARER.exec(request.header('Authorization') ?? '')?.[1] ?? '');
  if (!parsed) throw new UnauthorizedError();
  logger.appendKeys({ accountId: parsed.accountId, keyId: parsed.keyId });

  const [use, found, loaded] = await Promise.allSettled([
    consumeApiKey(parsed, request.now),
    findAccount(parsed.accountId),
    load(parsed.accountId),
  ]);
  const { apiKey, retryAfterSeconds } = settled(use);
  const account = settled(found);
  if (!account || apiKey.accountId !== account.accountId) throw new UnauthorizedError();
  if (account.blockedAt !== undefined) throw new AccountBlockedError();
  if (!apiKey.scopes.includes(scope)) throw new ForbiddenError(`This key lacks the scope ${scope}.`);
  if (retryAfterSeconds !== undefined) throw new RateLimitedError(retryAfterSeconds);
  return { account, loaded: settled(loaded) };
};

const settled = <T>(result: PromiseSettledResult<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};
