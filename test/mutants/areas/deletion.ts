import { bugs } from '../mutant.ts';

/** Bugs in what a deletion removes, and when. */
export const DELETION = bugs('deletion', [
  [
    'an interrupted deletion is never resumed',
    'core/requests/deleted-requests.ts',
    '...openWorkListing(deletion.requestId, deletion.deletedAt),',
    '',
  ],
  [
    'a deletion is closed while files remain',
    'core/deletion/finish-deletion.ts',
    'if (complete) await',
    'await',
  ],
  [
    'attempts outlive the request they belong to',
    'core/deletion/finish-deletion.ts',
    'await removeTraces(requestId);',
    '',
  ],
  [
    "a caller deletes another account's request",
    'core/deletion/delete-requests.ts',
    'request?.accountId !== accountId',
    '!request',
  ],
  [
    'an unfinished request is not found when it is to be deleted',
    'core/deletion/delete-requests.ts',
    "if (!isTerminal(request)) return { outcome: 'conflict' };",
    '',
  ],
  [
    'one id that fails fails the deletion of many',
    'core/deletion/delete-requests.ts',
    "return { outcome: 'failed' };",
    'throw error;',
  ],
  [
    'an end-user with unfinished requests is removed',
    'core/end-users/end-users.ts',
    'AND activeRequests = :none',
    'AND activeRequests >= :none',
  ],
  [
    'an end-user creates while being removed',
    'core/end-users/end-users.ts',
    'attribute_not_exists(blockedAt) AND attribute_not_exists(deletingAt)',
    'attribute_not_exists(blockedAt)',
  ],
  [
    'requests of a removed end-user are left when one call cannot remove all',
    'core/deletion/delete-end-user.ts',
    'if (!complete) {',
    'if (!complete && deletions.size === 0) {',
  ],
]);
