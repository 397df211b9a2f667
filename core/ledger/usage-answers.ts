import * as z from 'zod/mini';
import { count, described, named, xTokens } from '../answers.ts';
import { USAGE_DIMENSIONS } from './usage-rules.ts';

const sums = {
  requests: count('Requests that were debited.'),
  debited: xTokens('Their debits.'),
  refunded: xTokens('Refunds.'),
  xTokens: described(
    z.number(),
    '`debited` minus `refunded`; negative where more was refunded than debited.',
  ),
};

/** Usage of one group. */
export const UsageItem = named(
  'UsageItem',
  'The usage of one group, with the fields of the dimensions asked for.',
  z.object({
    day: z.optional(described(z.string(), 'With `day`: a date in UTC.')),
    model: z.optional(described(z.nullable(z.string()), 'With `model`. Null if unknown.')),
    endUserEmail: z.optional(
      described(z.nullable(z.string()), 'With `endUser`. Null for end-users that were deleted.'),
    ),
    keyId: z.optional(described(z.nullable(z.string()), 'With `key`. Null if unknown.')),
    ...sums,
  }),
);
export type UsageItem = z.infer<typeof UsageItem>;

/** The usage of an account as the API shows it; amounts in xTokens. */
export const UsageAnswer = named(
  'Usage',
  'Debits and refunds between two dates, as the ledger has them.',
  z.object({
    from: described(z.string(), 'The first day.'),
    to: described(z.string(), 'The day after the last.'),
    by: z.array(z.enum(USAGE_DIMENSIONS)),
    items: described(z.array(UsageItem), 'In the order of `by`; none without it.'),
    total: z.object(sums),
  }),
);
export type UsageAnswer = z.infer<typeof UsageAnswer>;
