import { type Account, findAccount } from '../../core/accounts/accounts.ts';
import { type ApiKey, type ParsedKey, parseKey, type Scope } from '../../core/accounts/api-keys.ts';
import { consumeApiKey } from '../../core/accounts/consume-api-key.ts';
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
 * The caller that the request's API key names, without any look-up: not to be trusted before `authorize`.
 * Throws `UnauthorizedError` for an absent or malformed key.
 */
export const identifyCaller = (request: ApiRequest): ParsedKey => {
  const caller = parseKey(BEARER.exec(request.header('Authorization') ?? '')?.[1] ?? '');
  if (!caller) throw new UnauthorizedError();
  return caller;
};

/**
 * The caller's account and key, strongly consistent. Looks up the key, which also counts the request against its rate,
 * and the account in parallel. Refusals come in this order: `UnauthorizedError` (unknown or revoked key),
 * `AccountBlockedError`, `ForbiddenError` (scope), `RateLimitedError`. Log lines name the account and the key from
 * then on: before, a forged key could put any name there.
 */
export const authorizeKey = async (
  caller: ParsedKey,
  scope: Scope,
  now: Date,
): Promise<{ account: Account; apiKey: ApiKey }> => {
  const [use, found] = await Promise.allSettled([consumeApiKey(caller, now), findAccount(caller.accountId)]);
  const { apiKey, retryAfterSeconds } = settled(use);
  const account = settled(found);
  if (!account || apiKey.accountId !== account.accountId) throw new UnauthorizedError();
  logger.appendKeys({ accountId: account.accountId, keyId: apiKey.keyId });
  if (account.blockedAt !== undefined) throw new AccountBlockedError();
  if (!apiKey.scopes.includes(scope)) throw new ForbiddenError(`This key lacks the scope ${scope}.`);
  if (retryAfterSeconds !== undefined) throw new RateLimitedError(retryAfterSeconds);
  return { account, apiKey };
};

/** The caller's account, as by `authorizeKey`. */
export const authorize = async (caller: ParsedKey, scope: Scope, now: Date): Promise<Account> =>
  (await authorizeKey(caller, scope, now)).account;

/**
 * Awaits an authorization and a read that run in parallel. A refused authorization wins over anything the read throws. Pass the
 * promise of an async function as the read: a throw before the `await` would leave the other promise unhandled.
 *
 * Forged keys set the read off too: it may be a fixed number of single items, never a list and nothing that
 * depends on the account the key names.
 */
export const authorizedFirst = async <T>(
  authorization: Promise<Account>,
  read: Promise<T>,
): Promise<[Account, T]> => {
  const [account, result] = await Promise.allSettled([authorization, read]);
  return [settled(account), settled(result)];
};

const settled = <T>(result: PromiseSettledResult<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};
