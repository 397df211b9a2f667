import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { balanceChangeKey } from '../table/keys.ts';
import { getItem, putWrite } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';

/**
 * The balance change that an operator's idempotency key made. Kept for ever, like its ledger entry: operators
 * change balances rarely, and a script may repeat one at any time.
 */
export const BalanceChangeKey = z.object({ accountId: z.string(), entryNumber: z.number() });

const digestOf = (idempotencyKey: string): string =>
  createHash('sha256').update(idempotencyKey).digest('hex');

/** Access pattern 41: keeps an idempotency key with the number of its entry. Refused when the key was used. */
export const insertBalanceChangeKeyWrite = (
  accountId: string,
  idempotencyKey: string,
  entryNumber: number,
): TransactItem =>
  putWrite(
    { ...balanceChangeKey(accountId, digestOf(idempotencyKey)), accountId, entryNumber },
    {
      ConditionExpression: 'attribute_not_exists(PK)',
    },
  );

/**
 * Access pattern 41: the number of the entry that an idempotency key made, strongly consistent; undefined when
 * the key was not used.
 */
export const findEntryNumberOfKey = async (
  accountId: string,
  idempotencyKey: string,
): Promise<number | undefined> => {
  const item = await getItem(balanceChangeKey(accountId, digestOf(idempotencyKey)));
  return item && BalanceChangeKey.parse(item).entryNumber;
};
