import { blockAccount, putWebhookSecrets } from '../../core/accounts/accounts.ts';
import { revokeApiKey } from '../../core/accounts/api-keys.ts';
import { deleteRequests } from '../../core/deletion/delete-requests.ts';
import { blockEndUser, type EndUserId } from '../../core/end-users/end-users.ts';
import { endRequest } from '../../core/ending/end-request.ts';
import { failed } from '../../core/ending/failed.ts';
import { type Failure, NotFoundError, ServiceError } from '../../core/errors.ts';
import { type Clock, systemClock } from '../../core/time.ts';
import { removeEndUser } from '../remove-end-user.ts';
import type { Removals } from './compare-tables.ts';

/** The failure of a request that its owner deleted, when the restored table has the request unfinished. Nobody reads it. */
const DELETED_SINCE: Failure = { code: 'internal_error', message: 'The request was deleted.' };

/**
 * Repeats removals on the table in use: revocations, blocks and new webhook secrets first, then deletions of requests
 * and of end-users. A request that is unfinished in this table is failed and refunded before its deletion. A
 * repetition changes nothing. Returns the removals that failed, in words.
 */
export const repeatRemovals = async (removals: Removals, clock: Clock = systemClock): Promise<string[]> => {
  for (const { keyId, revokedAt } of removals.keys) await revokeApiKey(keyId, new Date(revokedAt));
  for (const { accountId, blockedAt } of removals.accountBlocks) {
    await blockAccount(accountId, new Date(blockedAt));
  }
  for (const { blockedAt, ...id } of removals.endUserBlocks) await blockEndUser(id, new Date(blockedAt));
  for (const { accountId, ...secrets } of removals.webhookSecrets) {
    await putWebhookSecrets(accountId, secrets);
  }
  const problems: string[] = [];
  for (const [accountId, requests] of Map.groupBy(removals.requests, (request) => request.accountId)) {
    const requestIds = requests.map(({ requestId }) => requestId);
    problems.push(...(await deleteAgain(accountId, requestIds, clock)));
  }
  for (const id of removals.endUsers) problems.push(...(await removeAgain(id, clock)));
  return problems;
};

const deleteAgain = async (
  accountId: string,
  requestIds: readonly string[],
  clock: Clock,
): Promise<string[]> => {
  const { deletions } = await deleteRequests(accountId, requestIds, clock.now());
  const unfinished = requestIds.filter((id) => deletions.get(id)?.outcome === 'conflict');
  for (const requestId of unfinished) await endRequest(requestId, failed(DELETED_SINCE), { clock });
  const again = await deleteRequests(accountId, unfinished, clock.now());
  const outcomes = new Map([...deletions, ...again.deletions]);
  return requestIds
    .filter((id) => ['conflict', 'failed'].includes(outcomes.get(id)?.outcome ?? 'failed'))
    .map((id) => `request ${id} could not be deleted`);
};

const removeAgain = async (id: EndUserId, clock: Clock): Promise<string[]> => {
  try {
    await removeEndUser(id, clock);
    return [];
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    if (!(error instanceof ServiceError)) throw error;
    return [`an end-user of account ${id.accountId} could not be removed: ${error.message}`];
  }
};
