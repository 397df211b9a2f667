import * as z from 'zod/mini';
import { Budget } from '../budgets/budget-rules.ts';
import { EarnedWork } from '../concurrency/work-allowance.ts';
import { NotFoundError } from '../errors.ts';
import { newAccountId, newWebhookSecret } from '../ids.ts';
import { ACCOUNT_LISTING_PARTITION, accountKey, accountListing, accountPartition } from '../table/keys.ts';
import { findOutcome, insertNew, leavesOutcomeOpen, updateExisting } from '../table/outcomes.ts';
import {
  getItem,
  listedItems,
  listedKeys,
  type StoredItem,
  setAll,
  type UpdateParts,
} from '../table/table.ts';
import type { ExtraWrites } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toInstant } from '../time.ts';

/** Requests that each key of an account may make: a sustained rate and a burst. */
export const RequestLimits = z.object({ requestsPerSecond: z.number(), burst: z.number() });
export type RequestLimits = z.infer<typeof RequestLimits>;
/** The limits of a new account. */
export const DEFAULT_LIMITS: RequestLimits = { requestsPerSecond: 50, burst: 100 };

/** The webhook of an account's balance: its URL, and the threshold of `balance.low`. */
const BalanceWebhook = z.object({ url: z.string(), belowThousandths: z.number() });
export type BalanceWebhook = z.infer<typeof BalanceWebhook>;

/**
 * An account as stored. `ledgerEntries` counts its ledger entries and is the number of the newest one. It and
 * the balance change only together, in the transaction that writes the entry.
 */
export const Account = z.object({
  accountId: z.string(),
  name: z.string(),
  /** The person to write to, and notes for staff. Empty texts are absent. */
  contact: z.optional(z.string()),
  note: z.optional(z.string()),
  balanceThousandths: z.number(),
  ledgerEntries: z.number(),
  balanceUpdatedAt: z.string(),
  createdAt: z.string(),
  blockedAt: z.optional(z.string()),
  webhookSecret: z.string(),
  /** The secret before the last rotation; webhooks are signed with both until `previousValidUntil`. */
  previousWebhookSecret: z.optional(z.string()),
  previousValidUntil: z.optional(z.string()),
  limits: z._default(RequestLimits, DEFAULT_LIMITS),
  /** Changes only with the balance, in the transaction of a creation. */
  earnedWork: z.optional(EarnedWork),
  /**
   * Counts the changes of `balanceWebhook`, `keyBudgets` and `rates`. A transaction on the balance requires an unchanged version,
   * so outdated settings are never applied. A creation in progress keeps its price.
   */
  settingsVersion: z.optional(z.number()),
  /**
   * The budgets of the account's API keys by key id, each a `Budget`. The spending of a key is counted while the key has a
   * budget.
   */
  keyBudgets: z.optional(z.record(z.string(), z.unknown())),
  /**
   * The account's own prices by model id, each an `AccountRate`. A price in a form that only another release knows is left
   * unchanged.
   */
  rates: z.optional(z.record(z.string(), z.unknown())),
  /** A webhook in a form that only another release knows reads as absent. */
  balanceWebhook: z.optional(z.catch(z.optional(BalanceWebhook), undefined)),
  /** The last event that reported an insufficient balance: its time, and the number of ledger entries then. */
  exhaustedReported: z.optional(
    z.catch(z.optional(z.object({ at: z.string(), ledgerEntries: z.number() })), undefined),
  ),
});
export type Account = z.infer<typeof Account>;

/** The account of a stored item. Throws when the item is malformed. */
export const toAccount = (item: StoredItem): Account => Account.parse(item);

/** Access pattern 2: an account by id, strongly consistent; undefined when there is none. */
export const findAccount = async (accountId: string): Promise<Account | undefined> => {
  const item = await getItem(accountKey(accountId));
  return item && toAccount(item);
};

/** Like `findAccount`, but throws `NotFoundError` when there is none. */
export const getAccount = async (accountId: string): Promise<Account> => {
  const account = await findAccount(accountId);
  if (!account) throw noSuchAccount(accountId);
  return account;
};

/** Details of an account, written by staff. */
export type AccountDetails = Partial<Pick<Account, 'name' | 'contact' | 'note'>>;

/**
 * Access pattern 1: creates an account with a balance of 0. Throws `OutcomeUnknownError` when the answer was lost
 * and the account is not found.
 */
export const insertAccount = async (
  name: string,
  now: Date,
  {
    accountId = newAccountId(now),
    contact,
    note,
    extraWrites,
  }: Omit<AccountDetails, 'name'> & { accountId?: string; extraWrites?: ExtraWrites } = {},
): Promise<Account> => {
  const createdAt = toInstant(now);
  const account: Account = {
    accountId,
    name,
    ...(contact && { contact }),
    ...(note && { note }),
    balanceThousandths: 0,
    ledgerEntries: 0,
    balanceUpdatedAt: createdAt,
    createdAt,
    webhookSecret: newWebhookSecret(),
    limits: DEFAULT_LIMITS,
  };
  await insertNew(
    { ...accountKey(accountId), ...accountListing(accountId, createdAt), ...account },
    `No answer came, so account ${accountId} may exist. Look for it among the accounts before creating another.`,
    extraWrites,
  );
  return account;
};

/**
 * Access pattern 3: every account, oldest first. For operators: reads the whole index, which lags writes by a
 * fraction of a second.
 */
export const listAccounts = async (): Promise<Account[]> => listedItems(ACCOUNT_LISTING_PARTITION, toAccount);

/** After which account the next page of a list begins. */
export const AccountPosition = z.object({
  PK: z.string(),
  SK: z.string(),
  GSI1PK: z.string(),
  GSI1SK: z.string(),
});
export type AccountPosition = z.infer<typeof AccountPosition>;

/** Access pattern 3: the ids of a page of accounts, oldest first, and where the next page begins. Eventually consistent. */
export const listAccountIds = async (
  limit: number,
  after?: AccountPosition,
): Promise<{ accountIds: string[]; next: AccountPosition | undefined }> => {
  const { keys, next } = await listedKeys(ACCOUNT_LISTING_PARTITION, limit, after);
  return {
    accountIds: keys.map(({ PK }) => PK.slice(accountPartition('').length)),
    next: next && AccountPosition.parse(next),
  };
};

/**
 * Access pattern 4: blocks every call with the account's keys; a repeated call keeps the first instant.
 * Throws `NotFoundError`.
 */
export const blockAccount = (accountId: string, now: Date, extraWrites?: ExtraWrites): Promise<Account> =>
  updateAccount(
    accountId,
    {
      UpdateExpression: 'SET blockedAt = if_not_exists(blockedAt, :now)',
      ExpressionAttributeValues: { ':now': toInstant(now) },
    },
    extraWrites,
  );

/** Access pattern 4: allows calls with the account's keys again. Throws `NotFoundError`. */
export const unblockAccount = (accountId: string, extraWrites?: ExtraWrites): Promise<Account> =>
  updateAccount(accountId, setAll({ blockedAt: undefined }), extraWrites);

/** Access pattern 4: sets the details that are given, at least one; an empty text removes one. Throws `NotFoundError`. */
export const setAccountDetails = (
  accountId: string,
  details: AccountDetails,
  extraWrites?: ExtraWrites,
): Promise<Account> => {
  const given = Object.entries(details).filter(([, value]) => value !== undefined);
  const set = Object.fromEntries(given.map(([name, value]) => [name, value || undefined]));
  return updateAccount(accountId, setAll(set), extraWrites);
};

/**
 * Access pattern 4: sets the account's limits. Existing keys keep theirs until `setKeyLimits`. Throws
 * `NotFoundError`.
 */
export const setAccountLimits = (
  accountId: string,
  limits: RequestLimits,
  extraWrites?: ExtraWrites,
): Promise<Account> => updateAccount(accountId, setAll({ limits }), extraWrites);

/** Time after a rotation in which webhook deliveries are also signed with the previous secret. */
const ROTATION_SECONDS = SECONDS_PER_DAY;

/**
 * Access pattern 4: replaces the account's webhook secret once; the old one stays valid for 24 h. Throws
 * `NotFoundError`, and `OutcomeUnknownError` when the answer was lost and the new secret is not found.
 */
export const rotateWebhookSecret = async (
  accountId: string,
  now: Date,
  extraWrites?: ExtraWrites,
): Promise<Account> => {
  const secret = newWebhookSecret();
  try {
    return await updateAccount(
      accountId,
      {
        UpdateExpression:
          'SET previousWebhookSecret = webhookSecret, previousValidUntil = :until, webhookSecret = :secret',
        ExpressionAttributeValues: {
          ':until': addSeconds(toInstant(now), ROTATION_SECONDS),
          ':secret': secret,
        },
        // The client repeats an update whose answer was lost: once more would replace the previous secret too.
        ConditionExpression: 'webhookSecret <> :secret',
      },
      extraWrites,
    );
  } catch (error) {
    if (!(error instanceof NotFoundError) && !leavesOutcomeOpen(error)) throw error;
    const findRotated = async (): Promise<Account | undefined> => {
      const account = await findAccount(accountId);
      return account?.webhookSecret === secret ? account : undefined;
    };
    return findOutcome(error, findRotated, ROTATION_UNKNOWN);
  }
};

const ROTATION_UNKNOWN =
  'No answer came, so the webhook secret may have been replaced. A repeat may replace it twice: then the secret in ' +
  'use before is no longer valid.';

/**
 * Access pattern 4: gives the account these webhook secrets, as another table has them. Throws `NotFoundError`.
 */
export const putWebhookSecrets = (
  accountId: string,
  secrets: Pick<Account, 'webhookSecret' | 'previousWebhookSecret' | 'previousValidUntil'>,
): Promise<Account> => updateAccount(accountId, setAll(secrets));

const updateAccount = async (
  accountId: string,
  update: UpdateParts,
  extraWrites?: ExtraWrites,
): Promise<Account> => {
  const item = await updateExisting(accountKey(accountId), update, extraWrites);
  if (!item) throw noSuchAccount(accountId);
  return toAccount(item);
};

/** The error for an account that does not exist. */
export const noSuchAccount = (accountId: string): NotFoundError =>
  new NotFoundError(`There is no account ${accountId}.`);

/** The budget of an API key; undefined: no limit. Throws for a malformed budget. */
export const keyBudgetOf = (
  { keyBudgets }: Pick<Account, 'keyBudgets'>,
  keyId: string,
): Budget | undefined => (keyBudgets?.[keyId] === undefined ? undefined : Budget.parse(keyBudgets[keyId]));
