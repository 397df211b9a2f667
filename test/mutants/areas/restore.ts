import { bugs } from '../mutant.ts';

/** Bugs in a restore of the table. */
export const RESTORE = bugs('restore', [
  [
    'a revoked key works again after a restore',
    'ops/restore/repeat-removals.ts',
    'of removals.keys) await revokeApiKey',
    'of removals.keys.slice(1)) await revokeApiKey',
  ],
  [
    'an unfinished request comes back although it was deleted',
    'ops/restore/repeat-removals.ts',
    'for (const requestId of unfinished) await endRequest',
    'for (const requestId of unfinished.slice(1)) await endRequest',
  ],
  [
    'a restore unblocks who was blocked since',
    'ops/restore/compare-tables.ts',
    'item.blockedAt === undefined && living.blockedAt !== undefined',
    'item.blockedAt !== undefined && living.blockedAt !== undefined',
  ],
  [
    "a restore loses operators' changes unsaid",
    'ops/restore/compare-tables.ts',
    'return REASONS_OF_REQUESTS.includes(textOf(item.reason)) ? undefined : textOf(item.id);',
    'return undefined;',
  ],
]);
