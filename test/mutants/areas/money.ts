import { bugs } from '../mutant.ts';

/** Bugs in what is paid and refunded. */
export const MONEY = bugs('money', [
  [
    'a request that succeeds in part is not refunded the rest',
    'core/ending/end-request.ts',
    '? request.debitThousandths - state.costThousandths',
    '? 0',
  ],
  [
    'a failed request is refunded the price of one unit',
    'core/ending/end-request.ts',
    ': request.debitThousandths;',
    ': request.unitPriceThousandths;',
  ],
  [
    'outputs without a file are charged',
    'core/ending/settle-request.ts',
    '.filter(({ objectKey }) => objectKey !== undefined)',
    '',
  ],
  [
    'images that were not produced are charged',
    'core/requests/request-rules.ts',
    'return request.unitPriceThousandths * delivered;',
    'return request.debitThousandths;',
  ],
  [
    'several images are debited as one',
    'core/creation/new-request.ts',
    'unitPriceThousandths * images;',
    'unitPriceThousandths;',
  ],
  [
    'the entry number of the last change is used again',
    'core/ledger/ledger.ts',
    'number: head.ledgerEntries + 1,',
    'number: Math.max(1, head.ledgerEntries),',
  ],
  [
    'a refused balance change is retried with the balance it began with',
    'core/ledger/change-balance.ts',
    'head = (await accountFoundInstead(accountId, refusals, 0)) ?? head;',
    '',
  ],
  [
    'a top-up whose answer was lost is credited again',
    'core/ledger/change-balance.ts',
    'return entry?.id === entryId ? entry : undefined;',
    'return undefined;',
  ],
  [
    "an operator's idempotency key is not kept",
    'core/ledger/change-balance.ts',
    'if (idempotencyKey === undefined) return [...writes, ...beside];',
    'return [...writes, ...beside];',
  ],
  [
    'an entry is dated by the clock of its writer alone',
    'core/ledger/ledger.ts',
    'later(toInstant(now), head.balanceUpdatedAt)',
    'toInstant(now)',
  ],
  [
    "an operator's adjustment takes a balance below zero",
    'core/ledger/change-balance.ts',
    'if (after < 0)',
    'if (balanceThousandths < 0)',
  ],
  [
    'a refused refund is named by the number it would have had',
    'core/ending/end-request.ts',
    'refundEntryNumber: entry.number',
    'refundEntryNumber: entry.number - refusals.length',
  ],
  [
    'a deleted request keeps no amounts to verify its ledger entries against',
    'core/requests/deleted-requests.ts',
    'const accounted = AccountedRequest.parse(request);',
    'const accounted = undefined;',
  ],
  [
    'a second refund of a request past its retention is not noticed',
    'core/ledger/ledger-rules.ts',
    'refunds.some((refund) => !mayBeSwept(refund, now))',
    'refunds.some((refund) => mayBeSwept(refund, now))',
  ],
  [
    'entries in other parts of a ledger are not read',
    'core/ledger/judge-requests.ts',
    'named.get(number) ?? []',
    'named.get(-number) ?? []',
  ],
  [
    'a creation that an earlier try has written is refused',
    'core/creation/write-creation.ts',
    'const mayBeAccepted = plans > 1 ||',
    'const mayBeAccepted = plans > 240 ||',
  ],
  [
    'an idempotency key creates again while it is remembered',
    'core/creation/idempotency.ts',
    'OR keptUntil <= :now',
    'OR keptUntil >= :now',
  ],
  [
    'an idempotency key replays whatever body it is sent with',
    'core/creation/idempotency.ts',
    'record !== undefined && record.fingerprint === idempotency?.fingerprint',
    'record !== undefined && idempotency',
  ],
  [
    "a refund stays in the end-user's spending",
    'core/end-users/end-users.ts',
    "':minusRefund': -refund",
    "':minusRefund': 0",
  ],
]);
