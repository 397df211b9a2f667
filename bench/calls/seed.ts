import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type Account, DEFAULT_LIMITS, insertAccount } from '../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../core/accounts/api-keys.ts';
import type { EndUser } from '../../core/end-users/end-users.ts';
import { newRequestId } from '../../core/ids.ts';
import { balanceChangeWrites } from '../../core/ledger/ledger.ts';
import type { ProviderAttempt } from '../../core/provider-calls/provider-attempts.ts';
import { type ImageRequest, removalTime } from '../../core/requests/request-rules.ts';
import { insertRequestWrite } from '../../core/requests/requests.ts';
import {
  accountKey,
  accountListing,
  endUserKey,
  endUserListing,
  outputObjectKey,
  providerAttemptKey,
  TTL_ATTRIBUTE,
} from '../../core/table/keys.ts';
import { type StoredItem, table, tableName } from '../../core/table/table.ts';
import type { TransactItem } from '../../core/table/transactions.ts';
import { addSeconds, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../../core/time.ts';

/** An account and a key with all scopes. */
export interface Caller {
  account: Account;
  apiKey: string;
}

/** Creates an account with a balance of 0. */
export const putCaller = async (name: string, now: Date): Promise<Caller> => {
  const account = await insertAccount(name, now);
  const key = { scopes: SCOPES, label: name, limits: DEFAULT_LIMITS };
  const { text } = await insertApiKey(account.accountId, key, now);
  return { account, apiKey: text };
};

/** The status that all requests of a list have when read. */
export type Fate = 'succeeded' | 'expired' | 'failed';

const PROMPT =
  'A lighthouse on a rocky shore at dusk, its beam cutting through drifting fog while a small fishing boat ' +
  'heads home; painted in oils with thick brush strokes, muted blues and one warm yellow light.';
const OUTPUT_TTL_SECONDS = 82_800;
const RETENTION_DAYS = 90;
const WORK_SECONDS = 10;
const PRICE_THOUSANDTHS = 4_000;

/** A request for one image in a terminal state, as the service stores it. */
const aRequest = (accountId: string, endUserEmail: string, fate: Fate, createdAt: Date): ImageRequest => {
  const requestId = newRequestId('image', createdAt);
  const finishedAt = addSeconds(toInstant(createdAt), WORK_SECONDS);
  const expiresAt = addSeconds(finishedAt, OUTPUT_TTL_SECONDS);
  const base = {
    kind: 'image' as const,
    ...{
      requestId,
      accountId,
      endUserEmail,
      endUserId: endUserEmail,
      model: 'xSD4.5',
      prompt: PROMPT,
      size: '2K',
    },
    ...{ aspectRatio: 'auto' as const, images: 1, sequential: false, references: [] },
    ...{ unitPriceThousandths: PRICE_THOUSANDTHS, debitThousandths: PRICE_THOUSANDTHS },
    createdAt: toInstant(createdAt),
    retentionDays: RETENTION_DAYS,
    finishedAt,
  };
  if (fate === 'failed') {
    return {
      ...base,
      status: 'failed',
      refundThousandths: PRICE_THOUSANDTHS,
      error: { code: 'provider_error', message: 'The upstream provider did not take the request.' },
      ttl: removalTime(finishedAt, RETENTION_DAYS),
    };
  }
  const objectKey = outputObjectKey(requestId, 0, 'png');
  const file = { objectKey, contentType: 'image/png', sizeBytes: 3_456_789, width: 2048, height: 2048 };
  return {
    ...base,
    status: 'succeeded',
    ...{ costThousandths: PRICE_THOUSANDTHS, refundThousandths: 0, expiresAt },
    outputs: [{ index: 0, ...file }],
    ttl: removalTime(expiresAt, RETENTION_DAYS),
  };
};

/** Puts requests of an end-user, one second apart, the newest one minute old (two days if expired). Returns their ids. */
export const putRequests = async (
  { account: { accountId } }: Caller,
  email: string,
  { count, fate, now }: { count: number; fate: Fate; now: Date },
): Promise<string[]> => {
  const newest = now.getTime() - (fate === 'expired' ? 2 * SECONDS_PER_DAY * 1000 : 60_000);
  const requests = Array.from({ length: count }, (_, index) =>
    aRequest(accountId, email, fate, new Date(newest - index * 1000)),
  );
  await putItems(requests.map((request) => itemOf(insertRequestWrite(request))));
  return requests.map(({ requestId }) => requestId);
};

/** Puts one provider attempt for each request. */
export const putAttempts = (requestIds: readonly string[], now: Date): Promise<void> => {
  const at = toInstant(now);
  return putItems(
    requestIds.map((requestId) => {
      const attempt: ProviderAttempt = {
        ...{ requestId, call: 0, attempt: 0, startedAt: at, aliveAt: at, finishedAt: at },
        ...{ provider: 'modelark', upstreamModel: 'seedream', baseUrl: 'https://provider.example' },
        outcome: { kind: 'done', outputs: [{ url: `https://files.provider.example/${requestId}.png` }] },
      };
      const ttl = toEpochSeconds(at) + 100 * SECONDS_PER_DAY;
      return { ...providerAttemptKey(requestId, 0, 0), ...attempt, [TTL_ATTRIBUTE]: ttl };
    }),
  );
};

/** The address of an account's end-user by number. It contains `.even@` or `.odd@`. */
export const endUserEmail = (number: number): string =>
  `user-${String(number).padStart(6, '0')}.${number % 2 === 0 ? 'even' : 'odd'}@customer.example.com`;

/** Puts end-users, created one second apart. Those with an odd number are blocked. */
export const putEndUsers = (
  { account: { accountId } }: Caller,
  { count, now }: { count: number; now: Date },
): Promise<void> =>
  putItems(
    Array.from({ length: count }, (_, number) => {
      const createdAt = toInstant(new Date(now.getTime() - (count - number) * 1000));
      return endUserItem({
        ...{
          accountId,
          email: endUserEmail(number),
          endUserId: endUserEmail(number),
          createdAt,
          lastActiveAt: createdAt,
        },
        ...{ totalRequests: 1, activeRequests: 0, spentThousandths: PRICE_THOUSANDTHS },
        ...(number % 2 === 0 ? {} : { blockedAt: createdAt }),
      });
    }),
  );

/** Puts an end-user and succeeded requests with one provider attempt each. Returns the request ids. */
export const putEndUserWithRequests = async (
  caller: Caller,
  email: string,
  { count, now }: { count: number; now: Date },
): Promise<string[]> => {
  const requestIds = await putRequests(caller, email, { count, fate: 'succeeded', now });
  await putAttempts(requestIds, now);
  const createdAt = toInstant(now);
  const { accountId } = caller.account;
  const endUser = {
    ...{ accountId, email, endUserId: email, createdAt, lastActiveAt: createdAt, totalRequests: count },
    ...{ activeRequests: 0, spentThousandths: count * PRICE_THOUSANDTHS },
  };
  await putItems([endUserItem(endUser)]);
  return requestIds;
};

const endUserItem = (endUser: EndUser): StoredItem => ({
  ...endUserKey(endUser.accountId, endUser.email),
  ...endUserListing(endUser.accountId, endUser.createdAt),
  ...endUser,
});

/** Puts a ledger of refunds of 1 xToken, one second apart, and updates the account to match. */
export const putLedger = async (
  { account }: Caller,
  { count, now }: { count: number; now: Date },
): Promise<void> => {
  const items: StoredItem[] = [];
  let head = account;
  for (let number = 1; number <= count; number++) {
    const at = new Date(now.getTime() - (count - number) * 1000);
    const reference = newRequestId('image', at);
    const change = { amountThousandths: 1_000, reason: 'refund', reference } as const;
    const { entry, writes } = balanceChangeWrites(head, change, at);
    items.push(itemOf(writes[1]));
    head = {
      ...head,
      balanceThousandths: entry.balanceAfterThousandths,
      ledgerEntries: entry.number,
      balanceUpdatedAt: entry.createdAt,
    };
  }
  const { accountId, createdAt } = account;
  await putItems([...items, { ...accountKey(accountId), ...accountListing(accountId, createdAt), ...head }]);
};

const itemOf = ({ Put }: TransactItem): StoredItem => {
  if (!Put?.Item) throw new Error('This write puts no item.');
  return Put.Item;
};

/** DynamoDB's limit of items in one BatchWriteItem. */
const BATCH_ITEMS = 25;
const CONCURRENT_BATCHES = 4;

const putItems = async (items: readonly StoredItem[]): Promise<void> => {
  const batches = Array.from({ length: Math.ceil(items.length / BATCH_ITEMS) }, (_, batch) =>
    items.slice(batch * BATCH_ITEMS, (batch + 1) * BATCH_ITEMS),
  ).values();
  const writer = async (): Promise<void> => {
    for (const batch of batches) {
      const writes = batch.map((Item) => ({ PutRequest: { Item } }));
      const { UnprocessedItems = {} } = await table.send(
        new BatchWriteCommand({ RequestItems: { [tableName()]: writes } }),
      );
      if (Object.keys(UnprocessedItems).length > 0) throw new Error('The table did not take all items.');
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, writer));
};
