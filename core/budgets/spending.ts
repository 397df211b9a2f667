import * as z from 'zod/mini';
import type { Thousandths } from '../money.ts';
import { spentKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { batchGet, type StoredItem, setAll, tableName, updateWrite } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY, toEpochSeconds } from '../time.ts';
import { type BudgetOwner, endOfPeriod, limitsAt, periodsOf, type Spending } from './budget-rules.ts';

/** The spending of a budget's owner in a period, less refunds. */
const SpentItem = z.object({ spentThousandths: z.number() });
type SpentItem = z.infer<typeof SpentItem>;

/** The spending that a stored item counts; 0 without an item. Throws when it is malformed. */
export const spentOf = (item: StoredItem | undefined): Thousandths =>
  item ? SpentItem.parse(item).spentThousandths : 0;

/** A refund comes days after its debit at most. */
const KEPT_DAYS = 40;
const ttlOf = (period: string): number =>
  toEpochSeconds(addSeconds(endOfPeriod(period), KEPT_DAYS * SECONDS_PER_DAY));

const addWrite = (
  key: { accountId: string; ownerId: string; period: string },
  amount: Thousandths,
): NonNullable<TransactItem['Update']> => ({
  TableName: tableName(),
  Key: spentKey(key.accountId, key.ownerId, key.period),
  UpdateExpression: 'SET #ttl = :ttl ADD spentThousandths :amount',
  ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
  ExpressionAttributeValues: { ':ttl': ttlOf(key.period), ':amount': amount },
});

/**
 * Access pattern 36: counts the debit of a request in the day and the month of its creation, in the order of `limitsAt`. Each is
 * refused, with the stored item if there is one, when more would be spent than the budget allows.
 */
export const countSpendingWrites = (
  accountId: string,
  { id: ownerId, budget }: BudgetOwner,
  debit: Thousandths,
  createdAt: Instant,
): TransactItem[] =>
  limitsAt(budget, createdAt).map(({ period, limit }) => {
    const write = addWrite({ accountId, ownerId, period }, debit);
    if (limit === undefined) return { Update: write };
    const most = limit - debit;
    return {
      Update: {
        ...write,
        // Without an item nothing is spent, and a debit above the limit is refused then, too.
        ConditionExpression: `${most >= 0 ? 'attribute_not_exists(spentThousandths) OR ' : ''}spentThousandths <= :most`,
        ExpressionAttributeValues: { ...write.ExpressionAttributeValues, ':most': most },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    };
  });

/**
 * Access pattern 36: gives a refund back to the day and the month in which the owners were debited. Each is refused when its count cannot
 * be read: the transaction is then to be made without it.
 */
export const giveBackWrites = (
  accountId: string,
  ownerIds: readonly string[],
  refund: Thousandths,
  createdAt: Instant,
): TransactItem[] =>
  ownerIds.flatMap((ownerId) =>
    Object.values(periodsOf(createdAt)).map((period) => {
      const write = addWrite({ accountId, ownerId, period }, -refund);
      return {
        Update: {
          ...write,
          ConditionExpression:
            'attribute_not_exists(spentThousandths) OR attribute_type(spentThousandths, :number)',
          ExpressionAttributeValues: { ...write.ExpressionAttributeValues, ':number': 'N' },
        },
      };
    }),
  );

/** Access pattern 37: what an owner of a budget spent in the day and the month of `at`, strongly consistent. */
export const readSpending = async (accountId: string, ownerId: string, at: Instant): Promise<Spending> => {
  const { day, month } = periodsOf(at);
  const [ofDay, ofMonth] = await batchGet([day, month].map((period) => spentKey(accountId, ownerId, period)));
  return { dayThousandths: spentOf(ofDay), monthThousandths: spentOf(ofMonth) };
};

/** Access pattern 36: begins the counts of an owner, with what was spent in each day or month. */
export const beginSpendingWrites = (
  accountId: string,
  ownerId: string,
  spent: ReadonlyMap<string, Thousandths>,
): TransactItem[] =>
  [...spent].map(([period, spentThousandths]) =>
    updateWrite(
      spentKey(accountId, ownerId, period),
      setAll({ ...({ spentThousandths } satisfies SpentItem), [TTL_ATTRIBUTE]: ttlOf(period) }),
    ),
  );
