import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { NotFoundError } from '../errors.ts';
import { newAccountId, newWebhookSecret } from '../ids.ts';
import { accountKey, accountListing } from '../table/keys.ts';
import { listedItems } from '../table/listings.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { writeItem } from '../table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toInstant } from '../time.ts';

/** Requests an account's keys may make: a sustained rate and how many may come at once. */
export const RequestLimits = z.object({ requestsPerSecond: z.number(), burst: z.number() });
export type RequestLimits = z.infer<typeof RequestLimits>;
export const DEFAULT_LIMITS: RequestLimits = { requestsPerSecond: 50, burst: 100 };

/**
 * An account as stored. `ledgerEntries` counts the entries of its ledger and is the number of the newest;
 * it and the balance only ever change together, in the transaction that writes the entry.
 */
export const Account = z.object({
  accountId: z.string(),
  name: z.string(),
  balanceThousandths: z.number(),
  ledgerEntries: z.number(),
  balanceUpdatedAt: z.string(),
  createdAt: z.string(),
  blockedAt: z.optional(z.string()),
  webhookSecret: z.string(),
  /** The secret before the last rotation, and until when it is signed with too. */
  previousWebhookSecret: z.optional(z.string()),
  previousValidUntil: z.optional(z.string()),
  limits: RequestLimits,
});
export type Account = z.infer<typeof Account>;

/** An account of a stored item; throws when the item is malformed. */
export const toAccount = (item: StoredItem): Account => Account.parse(item);

/** Access pattern 2: an account by id, strongly consistent; undefined when there is none. */
export const findAccount = async (accountId: string): Promise<Account | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: accountKey(accountId), ConsistentRead: true }),
  );
  return Item && toAccount(Item);
};

/** Like `findAccount`. Throws `NotFoundError` when there is none. */
export const getAccount = async (accountId: string): Promise<Account> => {
  const account = await findAccount(accountId);
  if (!account) throw noSuchAccount(accountId);
  return account;
};

/** Access pattern 1: a new account with nothing on its balance. */
export const insertAccount = async (name: string, now: Date): Promise<Account> => {
  const createdAt = toInstant(now);
  const account: Account = {
    accountId: newAccountId(now),
    name,
    balanceThousandths: 0,
    ledgerEntries: 0,
    balanceUpdatedAt: createdAt,
    createdAt,
    webhookSecret: newWebhookSecret(),
    limits: DEFAULT_LIMITS,
  };
  await writeItem(
    new PutCommand({
      TableName: tableName(),
      Item: { ...accountKey(account.accountId), ...accountListing(account.accountId, createdAt), ...account },
      ConditionExpression: 'attribute_not_exists(PK)',
    }),
  );
  return account;
};

/**
 * Access pattern 3: every account, oldest first. For operators: reads the whole index, which follows in a
 * fraction of a second.
 */
export const listAccounts = async (): Promise<Account[]> => listedItems('ACCOUNTS', toAccount);

/**
 * Access pattern 4: refuses every call of the account's keys from now on; a second time, the first instant
 * stands. Throws `NotFoundError`.
 */
export const blockAccount = (accountId: string, now: Date): Promise<Account> =>
  updateAccount(accountId, {
    UpdateExpression: 'SET blockedAt = if_not_exists(blockedAt, :now)',
    ExpressionAttributeValues: { ':now': toInstant(now) },
  });

/** Access pattern 5: lets the account's keys in again. Throws `NotFoundError`. */
export const unblockAccount = (accountId: string): Promise<Account> =>
  updateAccount(accountId, { UpdateExpression: 'REMOVE blockedAt' });

/**
 * Access pattern 6: sets what the account's keys may ask for; the keys themselves are told by `setKeyLimits`.
 * Throws `NotFoundError`.
 */
export const setAccountLimits = (accountId: string, limits: RequestLimits): Promise<Account> =>
  updateAccount(accountId, {
    UpdateExpression: 'SET #limits = :limits',
    ExpressionAttributeNames: { '#limits': 'limits' },
    ExpressionAttributeValues: { ':limits': limits },
  });

/** How long deliveries are signed with the previous webhook secret too. */
const ROTATION_SECONDS = SECONDS_PER_DAY;

/**
 * Access pattern 7: gives the account a new webhook secret; the one before stays valid for 24 h. Throws
 * `NotFoundError`.
 */
export const rotateWebhookSecret = (accountId: string, now: Date): Promise<Account> =>
  updateAccount(accountId, {
    UpdateExpression:
      'SET previousWebhookSecret = webhookSecret, previousValidUntil = :until, webhookSecret = :secret',
    ExpressionAttributeValues: {
      ':until': addSeconds(toInstant(now), ROTATION_SECONDS),
      ':secret': newWebhookSecret(),
    },
  });

const updateAccount = async (
  accountId: string,
  update: Pick<
    UpdateCommandInput,
    'UpdateExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
  >,
): Promise<Account> => {
  try {
    const { Attributes } = await writeItem(
      new UpdateCommand({
        TableName: tableName(),
        Key: accountKey(accountId),
        ...update,
        ConditionExpression: 'attribute_exists(PK)',
        ReturnValues: 'ALL_NEW',
      }),
    );
    return toAccount(Attributes ?? {});
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw noSuchAccount(accountId);
    throw error;
  }
};

const noSuchAccount = (accountId: string): NotFoundError =>
  new NotFoundError(`There is no account ${accountId}.`);
