import { bugs } from '../mutant.ts';

/** Bugs in what a deletion removes, and when. */
export const DELETION = bugs('deletion', [
  [
    'an interrupted deletion is never resumed',
    'core/requests/deleted-requests.ts',
    "...dueListing('CHECK', deletion.requestId, addSeconds(deletion.deletedAt, FINISH_WITHIN_SECONDS)),",
    '',
  ],
  [
    'a deletion is closed while files remain',
    'core/deletion/finish-deletion.ts',
    'if (complete && routes',
    'if (routes',
  ],
  [
    'a deletion is closed while a permit remains',
    'core/deletion/finish-deletion.ts',
    'if (complete && routes.length === 0) await',
    'if (complete) await',
  ],
  [
    'attempts outlive the request they belong to',
    'core/deletion/finish-deletion.ts',
    'await removeTraces(requestId);',
    '',
  ],
  [
    'an attempt of a webhook is recorded after its request was deleted',
    'core/deliveries/webhook-attempts.ts',
    'Key: webhookAttemptsEndKey(name.requestId),',
    "Key: webhookAttemptsEndKey('none'),",
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
    'a removal takes the requests of a later end-user with the address',
    'core/deletion/delete-end-user.ts',
    'endUserId === removal.endUserId',
    "endUserId !== ''",
  ],
  [
    'a removal ends before the index shows every request',
    'core/end-users/removals.ts',
    '.find((dueAt) => dueAt > after)',
    '.find((dueAt) => dueAt < after)',
  ],
  ['a removal ends with its second pass', 'core/end-users/removals.ts', '[60, 900, 86_400]', '[60]'],
  [
    'a removal whose call died is never resumed',
    'core/end-users/removals.ts',
    '{ ...endUserRemovalKey(removal), ...due, ...removal }',
    '{ ...endUserRemovalKey(removal), ...removal }',
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
    'if (!complete) return undefined;',
    '',
  ],
]);
