import { bugs } from '../mutant.ts';

/** Bugs of `/openai/v1`: which call a request belongs to, which call waits for a request, and what a refused call leaves behind. */
export const OPENAI = bugs('openai', [
  [
    'a first call takes a request that another call waits for',
    'core/creation/takeable-entries.ts',
    '(ownRetry > 0 && ',
    '(ownRetry >= 0 && ',
  ],
  [
    'a retry gets images that were answered long before',
    'core/creation/takeable-entries.ts',
    'const LOST_SECONDS = 10;',
    'const LOST_SECONDS = 600;',
  ],
  [
    'a retry gets the failure of another call',
    'core/creation/takeable-entries.ts',
    "if (request?.status === 'failed') return undefined;",
    '',
  ],
  [
    'a call goes on waiting for a request that another has taken',
    'core/creation/collection.ts',
    'isOwn: entry?.waiter === waiter',
    'isOwn: entry !== undefined',
  ],
  [
    'a call answers a request that another has taken',
    'core/creation/collection.ts',
    "'#state = :open AND waiter = :own'",
    "'#state = :open'",
  ],
  [
    'a call is debited after another has taken its entry',
    'core/creation/idempotency.ts',
    "ConditionExpression: 'waiter = :waiter'",
    "ConditionExpression: 'waiter = :waiter OR attribute_not_exists(PK)'",
  ],
  [
    'images answered again come with their bytes',
    'functions/openai/make-images.ts',
    "held.isGiven ? { ...parameters, responseFormat: 'url' as const } : parameters",
    'parameters',
  ],
  [
    'one account takes the places of all',
    'core/concurrency/waiting-limits.ts',
    'Math.min(limit.slots, atLeastOne(all / 2))',
    'limit.slots',
  ],
  [
    'the files of a refused edit stay stored',
    'core/creation/create-for-call.ts',
    "if (left !== 'written') await discard();",
    '',
  ],
  [
    'the files of an edit that may be written are removed',
    'core/creation/create-for-call.ts',
    "leavesOutcomeOpen(error) ? 'written' : 'dropped'",
    "'dropped'",
  ],
  [
    'a refusal that stays is repeated by the clients',
    'functions/openai/errors.ts',
    "status < 500 && error.code !== 'rate_limited'",
    "status < 500 && error.code === 'rate_limited'",
  ],
  [
    'all parts of a form are read before they are counted',
    'functions/openai/read-calls.ts',
    'if (hasTooManyParts(bytes, boundary))',
    'if (hasTooManyParts(bytes, boundary) && bytes.length === 0)',
  ],
]);
