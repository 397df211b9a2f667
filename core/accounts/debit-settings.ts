import type { Budget } from '../budgets/budget-rules.ts';
import { ConflictError } from '../errors.ts';
import { accountKey } from '../table/keys.ts';
import { updateExisting } from '../table/outcomes.ts';
import { setAll, type UpdateParts } from '../table/table.ts';
import type { ExtraWrites } from '../table/transactions.ts';
import { type Account, type BalanceWebhook, getAccount, noSuchAccount, toAccount } from './accounts.ts';

/**
 * Access pattern 4: sets the webhook of an account's balance; undefined: none. An insufficient balance is reported anew.
 * Throws `NotFoundError`.
 */
export const setBalanceWebhook = (
  accountId: string,
  webhook: BalanceWebhook | undefined,
  extraWrites?: ExtraWrites,
): Promise<Account> =>
  changeDebitSettings(
    accountId,
    setAll({ balanceWebhook: webhook, exhaustedReported: undefined }),
    extraWrites,
  );

/** Each creation writes the account: 100 budgets are some 10 KB of it. */
const MAX_KEY_BUDGETS = 100;

/**
 * Access pattern 11: sets the budget of an API key; undefined: no limit. Every later debit keeps to the budget.
 * Throws `NotFoundError`, and `ConflictError` for a budget of one key more than 100.
 */
export const setKeyBudget = async (
  { accountId, keyId }: { accountId: string; keyId: string },
  budget: Budget | undefined,
  extraWrites?: ExtraWrites,
): Promise<Account> => {
  const { keyBudgets = {} } = await getAccount(accountId);
  if (budget && !(keyId in keyBudgets) && Object.keys(keyBudgets).length >= MAX_KEY_BUDGETS) {
    throw new ConflictError(`${MAX_KEY_BUDGETS} keys of this account have a budget: lift one with --none.`);
  }
  return setEntry({ accountId, map: 'keyBudgets', id: keyId }, budget, extraWrites);
};

/**
 * Access pattern 4: sets an account's own rate for a model; undefined: the general rate. Existing requests keep their
 * price. Throws `NotFoundError`.
 */
export const putAccountRate = (
  accountId: string,
  modelId: string,
  rate: object | undefined,
  extraWrites?: ExtraWrites,
): Promise<Account> => setEntry({ accountId, map: 'rates', id: modelId }, rate, extraWrites);

/** Sets an entry of a map of an account; removes the entry for an undefined value. */
const setEntry = async (
  { accountId, map, id }: { accountId: string; map: 'keyBudgets' | 'rates'; id: string },
  value: object | undefined,
  extraWrites?: ExtraWrites,
): Promise<Account> => {
  // An update of an entry needs an existing map.
  await changeDebitSettings(accountId, {
    UpdateExpression: `SET ${map} = if_not_exists(${map}, :none)`,
    ExpressionAttributeValues: { ':none': {} },
  });
  const update = {
    UpdateExpression: value ? `SET ${map}.#id = :value` : `REMOVE ${map}.#id`,
    ExpressionAttributeNames: { '#id': id },
    ExpressionAttributeValues: value && { ':value': value },
  };
  return changeDebitSettings(accountId, update, extraWrites);
};

/** Changes settings that an account's debits depend on: each debit planned before is refused, and planned again. */
const changeDebitSettings = async (
  accountId: string,
  { UpdateExpression, ExpressionAttributeValues, ...rest }: UpdateParts,
  extraWrites?: ExtraWrites,
): Promise<Account> => {
  const withVersion = {
    UpdateExpression: `${UpdateExpression} ADD settingsVersion :one`,
    ExpressionAttributeValues: { ...ExpressionAttributeValues, ':one': 1 },
  };
  const item = await updateExisting(accountKey(accountId), { ...rest, ...withVersion }, extraWrites);
  if (!item) throw noSuchAccount(accountId);
  return toAccount(item);
};
