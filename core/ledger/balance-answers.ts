import * as z from 'zod/mini';
import { described, instant, named, xTokens } from '../answers.ts';
import { ENTRY_TYPES, LEDGER_REASONS } from './ledger-reasons.ts';

/** The balance of an account as the API shows it. */
export const BalanceAnswer = named(
  'Balance',
  'The balance of your account.',
  z.object({
    xTokens: xTokens('The balance.'),
    updatedAt: instant('When it last changed.'),
    account: z.optional(
      described(
        z.object({ accountId: z.string(), name: z.string() }),
        'Your account, with `include=account`.',
      ),
    ),
  }),
);
export type BalanceAnswer = z.infer<typeof BalanceAnswer>;

/** A ledger entry as the API shows it; amounts in xTokens. */
export const BalanceHistoryEntry = named(
  'BalanceHistoryEntry',
  'One change of the balance.',
  z.object({
    id: described(z.string(), '`led_` and a ULID.'),
    type: z.enum(ENTRY_TYPES),
    reason: z.enum(LEDGER_REASONS),
    amount: described(z.number().check(z.gt(0)), 'In xTokens, at most 3 decimals; always positive.'),
    balanceAfter: described(z.number(), 'The balance after this entry.'),
    reference: described(z.string(), 'For `generation` and `refund` the `requestId`.'),
    createdAt: instant('Never before that of the entry before it.'),
  }),
);
export type BalanceHistoryEntry = z.infer<typeof BalanceHistoryEntry>;
