import { deleteAccount } from '../core/accounts/delete-account.ts';
import { ConflictError } from '../core/errors.ts';
import { listRequestIdsOfAccount } from '../core/requests/account-requests.ts';
import { systemClock } from '../core/time.ts';

/**
 * Removes an account for good, with its keys, end-users and ledger: the trial account of `npm run smoke`. Safe to repeat. Throws
 * `ConflictError` while the index lists a request of it.
 */
export const removeAccount = async (accountId: string): Promise<void> => {
  for await (const requestId of listRequestIdsOfAccount(accountId)) {
    throw new ConflictError(`Account ${accountId} still has request ${requestId}.`);
  }
  await deleteAccount(accountId, systemClock.now());
};
