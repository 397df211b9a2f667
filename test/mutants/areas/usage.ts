import { bugs } from '../mutant.ts';

/** Bugs in what callers and operators are told of usage. */
export const USAGE = bugs('usage', [
  [
    "an operator's correction counts as usage",
    'core/ledger/usage-rules.ts',
    "if (entry.reason !== 'generation' && entry.reason !== 'refund') return;",
    "if (entry.reason === 'topup') return;",
  ],
  [
    'usage of a day is that of its month',
    'core/ledger/usage-rules.ts',
    'return entry.createdAt.slice(0, 10);',
    'return entry.createdAt.slice(0, 7);',
  ],
  [
    'a refund is of no key in usage',
    'core/ledger/usage.ts',
    'keyId: keys.get(entry.debitNumber ?? 0)',
    'keyId: undefined',
  ],
  [
    'an end-user in usage is unnamed',
    'core/ledger/usage.ts',
    'emails.set(endUserId, email);',
    'emails.set(email, endUserId);',
  ],
]);
