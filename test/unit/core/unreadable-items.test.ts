import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { listAuditEntries, putAuditEntry } from '../../../core/audit/audit.ts';
import { hostDigest } from '../../../core/concurrency/in-flight.ts';
import { takeRequest } from '../../../core/creation/collection.ts';
import { listWebhookAttempts } from '../../../core/deliveries/webhook-attempts.ts';
import { listEmailsOfEndUsers } from '../../../core/end-users/end-user-lists.ts';
import { usageOf } from '../../../core/ledger/usage.ts';
import { verifyLedger } from '../../../core/ledger/verify-ledger.ts';
import { logger } from '../../../core/observability.ts';
import { listRequestIdsOfAccount } from '../../../core/requests/account-requests.ts';
import { END_OF_TIME, listDue } from '../../../core/requests/due-items.ts';
import {
  AUDIT_PARTITION,
  accountKey,
  dueListing,
  endUserKey,
  idempotencyKey,
  ledgerEntryKey,
  ledgerEntrySort,
  requestKey,
  webhookAttemptKey,
  webhookHostKey,
} from '../../../core/table/keys.ts';
import { backOffFrom, findHostBackOff } from '../../../core/webhooks/webhook-hosts.ts';
import { atSeconds, NOW, StoppedClock } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anAccount,
  anEndUser,
  anImageRequest,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { aRequestId } from '../builders/request-ids.ts';
import { aWebhookAttempt } from '../builders/webhooks.ts';
import { memory } from '../fakes/fresh-table.ts';

const error = jest.spyOn(logger, 'error');
beforeEach(() => {
  error.mockReset();
});
const unread = (): unknown[] => error.mock.calls.map(([, logged]) => (logged as { item: string }).item);
const allOf = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
const OTHER = 'acc_01JD4KXQ8M0000000000000009';

describe('an item that cannot be read is left out and logged, and its neighbours are there', () => {
  test('among the changes by staff', async () => {
    for (const action of ['first', 'second', 'third'])
      await putAuditEntry({ actor: 'ada', action }, atSeconds(action.length));
    const [, broken] = memory.partition(AUDIT_PARTITION);
    memory.patch({ PK: AUDIT_PARTITION, SK: String(broken?.SK) }, { actor: 7 });

    const left = (await allOf(listAuditEntries({}))).map(({ action }) => action);

    expect(left).toHaveLength(2);
    expect(left).not.toContain(broken?.action);
    expect(unread()).toEqual([`${AUDIT_PARTITION} ${broken?.SK}`]);
  });

  test('among the attempts of a webhook', async () => {
    for (const number of [1, 2, 3])
      memory.put(webhookAttemptKey(REQUEST_ID, REQUEST_ID, number), aWebhookAttempt({ number }));
    memory.patch(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 2), { milliseconds: 'few' });

    expect((await listWebhookAttempts(REQUEST_ID)).map(({ number }) => number)).toEqual([1, 3]);
    expect(unread()).toHaveLength(1);
  });

  test('as the back-off from a host of webhooks, which then counts as answering', async () => {
    const url = 'https://hooks.example.com/a';
    await backOffFrom(ACCOUNT_ID, url, undefined, NOW);
    expect(await findHostBackOff(ACCOUNT_ID, url, NOW)).toMatchObject({ hangs: 1 });
    memory.patch(webhookHostKey(ACCOUNT_ID, hostDigest(url)), { notBefore: 7 });

    expect(await findHostBackOff(ACCOUNT_ID, url, NOW)).toBeUndefined();
    expect(unread()).toHaveLength(1);
  });

  test('among due work: a kind that this version does not know stays listed for one that does', async () => {
    const key = { PK: 'EXPORT#1', SK: 'EXPORT' };
    const listing = dueListing('CHECK', REQUEST_ID, atSeconds(-5).toISOString());
    memory.put(key, listing);
    putRequest(memory, anImageRequest());
    memory.patch(requestKey(REQUEST_ID), dueListing('CHECK', REQUEST_ID, NOW.toISOString()));

    const { items } = await listDue('CHECK', END_OF_TIME, 10);

    expect(items.map(({ work }) => work)).toEqual([{ kind: 'request', requestId: REQUEST_ID }]);
    expect(unread()).toEqual([key.PK]);
    expect(memory.get(key)).toMatchObject(listing);
  });

  test('among the requests of an account', async () => {
    const [one, other] = [aRequestId(NOW), aRequestId(atSeconds(1))];
    for (const requestId of [one, other]) putRequest(memory, anImageRequest({ requestId }));
    memory.patch(requestKey(one), { ttl: 'soon' });

    expect(await allOf(listRequestIdsOfAccount(ACCOUNT_ID))).toEqual([other]);
    expect(unread()).toHaveLength(1);
  });

  test('among the addresses of end-users, logged without an address', async () => {
    putEndUser(memory, anEndUser({ email: 'ada@example.com', endUserId: 'one' }));
    putEndUser(memory, anEndUser({ email: 'bob@example.com', endUserId: 'two' }));
    memory.patch(endUserKey(ACCOUNT_ID, 'ada@example.com'), { endUserId: 7 });

    expect(await allOf(listEmailsOfEndUsers(ACCOUNT_ID))).toEqual([
      { email: 'bob@example.com', endUserId: 'two' },
    ]);
    expect(unread()).toEqual([`${ACCOUNT_ID} 7`]);
  });

  test('among the calls that a retry may collect', async () => {
    const digest = 'digest';
    const [one, other] = [aRequestId(NOW), aRequestId(NOW)];
    for (const requestId of [one, other]) {
      putRequest(memory, anImageRequest({ requestId }));
      const entry = { requestId, state: 'released', waiter: 'b', at: NOW.toISOString(), retry: 0 };
      memory.put(idempotencyKey(ACCOUNT_ID, `${digest}#${requestId}`), entry);
    }
    memory.patch(idempotencyKey(ACCOUNT_ID, `${digest}#${one}`), { state: 'lost' });

    const call = {
      ...{ accountId: ACCOUNT_ID, kind: 'image' as const, digest, isKeyed: false, retry: 1, waiter: 'a' },
    };
    expect(await takeRequest(call, atSeconds(1))).toMatchObject({ requestId: other });
  });
});

describe('a ledger with an entry that cannot be read', () => {
  const DAY = { from: NOW.toISOString(), to: atSeconds(86_400).toISOString(), by: [] };
  const debit = { type: 'debit', reason: 'generation', model: 'xQI3Pro', endUserId: 'one' } as const;
  const given = (entries: number, ...broken: number[]) => {
    for (let number = 1; number <= entries; number++)
      memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number, debit));
    for (const number of broken) memory.patch(ledgerEntryKey(ACCOUNT_ID, number), { createdAt: 7 });
  };
  const requests = async (ledgerEntries: number) =>
    (await usageOf({ accountId: ACCOUNT_ID, ledgerEntries }, DAY)).total.requests;

  test.each([
    [3, [2]],
    [3, [1]],
    [100, [100]],
    [100, [4, 50]],
  ])('of %p without %p gives the usage of the others', async (entries, broken) => {
    given(entries, ...broken);

    expect(await requests(entries)).toBe(entries - broken.length);
    const { PK } = ledgerEntryKey(ACCOUNT_ID, 1);
    expect(new Set(unread())).toEqual(new Set(broken.map((number) => `${PK} ${ledgerEntrySort(number)}`)));
  });

  test('gives no usage when no entry can be read', async () => {
    given(2, 1, 2);

    expect(await requests(2)).toBe(0);
  });
});

describe('the verification of ledgers', () => {
  test('reports an account that cannot be read, and verifies the others', async () => {
    for (const accountId of [ACCOUNT_ID, OTHER])
      memory.put(accountKey(accountId), anAccount({ accountId, balanceThousandths: 0, ledgerEntries: 0 }));
    memory.patch(accountKey(ACCOUNT_ID), { name: 7 });

    const accounts = [{ accountId: ACCOUNT_ID }, { accountId: OTHER }];
    expect(await verifyLedger(accounts, new StoppedClock())).toEqual({
      accounts: 2,
      entries: 0,
      problems: [
        {
          accountId: ACCOUNT_ID,
          kind: 'unreadable',
          detail: 'The account cannot be read.',
        },
      ],
    });
  });

  test('reports an entry that cannot be read as a break of the chain', async () => {
    memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 3_000, ledgerEntries: 3 }));
    for (const number of [1, 2, 3]) memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number));
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 2), { amountThousandths: 'much' });

    const { problems } = await verifyLedger([{ accountId: ACCOUNT_ID }], new StoppedClock());

    expect(problems.map(({ kind }) => kind)).toEqual(['entry_number', 'entry_chain']);
  });
});
