import * as z from 'zod/mini';
import { described, instant, named, xTokens } from '../answers.ts';

const about = {
  accountId: described(z.string(), 'Your account: one URL may serve several.'),
  xTokens: xTokens('The balance then.'),
};
const eventOf = <Type extends string, Schema extends z.core.$ZodType>(type: Type, data: Schema) =>
  z.object({ type: z.literal(type), timestamp: instant('When it happened.'), data });

const Low = z.object({ ...about, below: xTokens('The threshold.') });
const Exhausted = z.object({ ...about, required: xTokens('What the refused creation would have cost.') });
/** What the webhook of a balance event reports; amounts in xTokens. */
export type BalanceEventData = Partial<z.infer<typeof Low> & z.infer<typeof Exhausted>>;

/** The bodies of the webhooks of an account's balance. */
export const BALANCE_EVENTS = {
  'balance.low': named(
    'BalanceLowEvent',
    'A debit took the balance below the threshold. Sent to the URL that the operator set for the account.',
    eventOf('balance.low', Low),
  ),
  'balance.exhausted': named(
    'BalanceExhaustedEvent',
    'A creation was refused because it costs more than the balance. At most once an hour, and again only once the balance has changed.',
    eventOf('balance.exhausted', Exhausted),
  ),
} as const;
