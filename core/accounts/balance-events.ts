import * as z from 'zod/mini';
import { insertFirstAttemptWrite, WEBHOOK_RETENTION_SECONDS } from '../deliveries/webhook-attempts.ts';
import type { PaymentRequiredError } from '../errors.ts';
import { balanceEventId } from '../ids.ts';
import { readableItems } from '../observability.ts';
import { accountKey, balanceEventKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { getItem, partitionQuery, putWrite, queryItems, updateWrite } from '../table/table.ts';
import { refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import { addSeconds, type Instant, toEpochSeconds, toInstant } from '../time.ts';
import type { Account } from './accounts.ts';

/** An event of an account's balance, as stored: what its webhook reports. */
export const BalanceEvent = z.object({
  eventId: z.string(),
  accountId: z.string(),
  type: z.enum(['balance.low', 'balance.exhausted']),
  at: z.string(),
  /** After the debit, or when the creation was refused. */
  balanceThousandths: z.number(),
  /** Of `balance.low`: the threshold. */
  belowThousandths: z.optional(z.number()),
  /** Of `balance.exhausted`: what the creation would have cost. */
  priceThousandths: z.optional(z.number()),
});
export type BalanceEvent = z.infer<typeof BalanceEvent>;

/**
 * The `balance.low` event of a change that takes a balance below the threshold of the account's webhook; undefined for other
 * changes.
 */
export const crossingOf = (
  {
    accountId,
    balanceThousandths,
    balanceWebhook,
  }: Pick<Account, 'accountId' | 'balanceThousandths' | 'balanceWebhook'>,
  {
    number,
    balanceAfterThousandths,
    createdAt,
  }: { number: number; balanceAfterThousandths: number; createdAt: Instant },
): BalanceEvent | undefined => {
  if (!balanceWebhook) return undefined;
  const { belowThousandths } = balanceWebhook;
  if (balanceThousandths < belowThousandths || balanceAfterThousandths >= belowThousandths) return undefined;
  return {
    eventId: balanceEventId(accountId, 'low', number),
    accountId,
    type: 'balance.low',
    at: createdAt,
    balanceThousandths: balanceAfterThousandths,
    belowThousandths,
  };
};

/** Access pattern 6: writes an event, in the transaction that it reports, with the first attempt of its webhook. */
export const insertBalanceEventWrites = (event: BalanceEvent): TransactItem[] => [
  putWrite({
    ...balanceEventKey(event.accountId, event.eventId),
    ...event,
    [TTL_ATTRIBUTE]: toEpochSeconds(event.at) + WEBHOOK_RETENTION_SECONDS,
  }),
  insertFirstAttemptWrite(event.eventId, event.at),
];

/** Shortest time between two `balance.exhausted` events of an account. */
const EXHAUSTED_PAUSE_SECONDS = 3_600;

/**
 * Access pattern 6: writes the event of a creation that was refused for want of balance, and records it on the account. Returns
 * its id. Writes nothing and returns undefined without a webhook, within an hour of the last `balance.exhausted` event, and until
 * the ledger has a new entry.
 */
export const insertExhaustedEvent = async (
  { accountId, balanceWebhook, exhaustedReported }: Account,
  { price, balance, ledgerEntries }: PaymentRequiredError,
  now: Date,
): Promise<string | undefined> => {
  const at = toInstant(now);
  const latest = addSeconds(at, -EXHAUSTED_PAUSE_SECONDS);
  const isReported =
    exhaustedReported && (exhaustedReported.at > latest || exhaustedReported.ledgerEntries === ledgerEntries);
  if (!balanceWebhook || isReported) return undefined;
  const event: BalanceEvent = {
    eventId: balanceEventId(accountId, 'exhausted', toEpochSeconds(at)),
    accountId,
    type: 'balance.exhausted',
    at,
    balanceThousandths: balance,
    priceThousandths: price,
  };
  let isWritten = true;
  await transact((refusals) => {
    isWritten = !refusedBy(refusals, 0);
    if (!isWritten) return [];
    return [
      updateWrite(accountKey(accountId), {
        UpdateExpression: 'SET exhaustedReported = :reported',
        ConditionExpression:
          'attribute_exists(balanceWebhook) AND (attribute_not_exists(exhaustedReported) OR exhaustedReported.#at <= :latest)',
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':reported': { at, ledgerEntries }, ':latest': latest },
      }),
      ...insertBalanceEventWrites(event),
    ];
  });
  return isWritten ? event.eventId : undefined;
};

/** Access pattern 7: an event, strongly consistent; undefined when there is none. */
export const findBalanceEvent = async (
  accountId: string,
  eventId: string,
): Promise<BalanceEvent | undefined> => {
  const item = await getItem(balanceEventKey(accountId, eventId));
  return item && BalanceEvent.parse(item);
};

/** Access pattern 7: the events of an account, newest first, strongly consistent. */
export const listBalanceEvents = async (accountId: string): Promise<BalanceEvent[]> => {
  const { PK, SK } = balanceEventKey(accountId, '');
  const items = await queryItems(partitionQuery(PK, SK));
  const events = readableItems(items, (item) => BalanceEvent.parse(item));
  return events.sort((a, b) => (a.at < b.at ? 1 : -1));
};
