import { blockAccount } from '../core/accounts/accounts.ts';
import { listApiKeys, revokeApiKey } from '../core/accounts/api-keys.ts';
import type { AuditWrite } from '../core/audit/audit.ts';
import { listEmailsOfEndUsers } from '../core/end-users/end-user-lists.ts';
import { ConflictError, NotFoundError } from '../core/errors.ts';
import { type Clock, toInstant } from '../core/time.ts';
import { removeEndUser } from './remove-end-user.ts';

/** A record of one change of a closing: the writes for the transaction that makes it. */
export type RecordChange = (action: string, subject?: string) => AuditWrite[];

/** A closed account, or one whose closing has to be repeated. */
export interface ClosedAccount {
  blockedAt: string;
  revokedKeys: number;
  removedEndUsers: number;
  /** Ids of end-users who stay, because requests of theirs are queued or processing. */
  unfinishedEndUsers: string[];
}

/**
 * Closes an account: its keys are refused from now on, and its end-users are removed with their requests and files.
 * Safe to repeat: a repetition continues after the last finished step. Ledger, audit and the account's item stay.
 * Throws `NotFoundError`.
 *
 * 1. Block the account, so that no creation follows.
 * 2. Revoke its keys.
 * 3. Remove its end-users, except those with unfinished requests.
 */
export const closeAccount = async (
  accountId: string,
  record: RecordChange,
  clock: Clock,
): Promise<ClosedAccount> => {
  const { blockedAt } = await blockAccount(accountId, clock.now(), record('closed'));
  const keys = (await listApiKeys(accountId)).filter(({ revokedAt }) => revokedAt === undefined);
  for (const { keyId } of keys) await revokeApiKey(keyId, clock.now(), record('key revoked', keyId));
  const closed = {
    blockedAt: blockedAt ?? toInstant(clock.now()),
    revokedKeys: keys.length,
    removedEndUsers: 0,
    unfinishedEndUsers: [] as string[],
  };
  for await (const { endUserId, email } of listEmailsOfEndUsers(accountId)) {
    const outcome = await removed({ accountId, email }, clock, record('end-user removed', endUserId));
    if (outcome === 'unfinished') closed.unfinishedEndUsers.push(endUserId);
    else if (outcome === 'removed') closed.removedEndUsers += 1;
  }
  return closed;
};

/** `gone`: another call removed the end-user meanwhile. */
const removed = async (
  id: { accountId: string; email: string },
  clock: Clock,
  extraWrites: AuditWrite[],
): Promise<'removed' | 'unfinished' | 'gone'> => {
  try {
    await removeEndUser(id, clock, extraWrites);
    return 'removed';
  } catch (error) {
    if (error instanceof NotFoundError) return 'gone';
    if (error instanceof ConflictError) return 'unfinished';
    throw error;
  }
};
