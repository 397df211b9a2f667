import { InvokeCommand } from '@aws-sdk/client-lambda';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Account } from '../../../../core/accounts/accounts.ts';
import { setBalanceWebhook } from '../../../../core/accounts/debit-settings.ts';
import { deleteAccount } from '../../../../core/accounts/delete-account.ts';
import { claimAttempt } from '../../../../core/deliveries/webhook-attempts.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { logger } from '../../../../core/observability.ts';
import { listDue } from '../../../../core/requests/due-items.ts';
import {
  accountKey,
  accountPartition,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { putAttempt } from '../../builders/next-attempt.ts';
import { leadingTo } from '../../builders/providers.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { lambda } from '../../fakes/fresh-first-attempts.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { balanceWebhook, create, deliveries, events, given, stored } from './a-balance-webhook.ts';

const warned = jest.spyOn(logger, 'warn').mockReturnValue();
const failed = jest.spyOn(logger, 'error').mockReturnValue();
beforeEach(() => {
  warned.mockClear();
  failed.mockClear();
});

/** As long after as an event waits for its writer to start the delivery. */
const LATER = 40;
const reconcile = (seconds = LATER) => checkDueItems(seconds, leadingTo(answering({ kind: 'waiting' })));
const LOW = `${ACCOUNT_ID}_low_5`;

describe('a debit that takes the balance below the threshold', () => {
  beforeEach(() => given());

  test('is told once, in its own transaction; those before and after it are not', async () => {
    await create();
    expect(events()).toEqual([]);

    await create();
    expect(memory.transactions.at(-1)?.TransactItems).toHaveLength(6);
    expect(events()).toMatchObject([
      {
        eventId: LOW,
        type: 'balance.low',
        at: NOW.toISOString(),
        balanceThousandths: 88_000,
        belowThousandths: 90_000,
      },
    ]);
    expect(deliveries()).toEqual([LOW]);

    await create();
    expect(deliveries()).toEqual([LOW]);
  });

  test('is told again once it was above it again', async () => {
    await create(2);
    await changeBalance(ACCOUNT_ID, { amountThousandths: 2_000, reason: 'topup', reference: '' }, NOW);
    await create();

    expect(deliveries()).toEqual([`${ACCOUNT_ID}_low_4`, `${ACCOUNT_ID}_low_6`]);
  });

  test.each<[string, Partial<Account>]>([
    ['first set', {}],
    ['raised', { balanceWebhook: { ...balanceWebhook, belowThousandths: 10_000 } }],
  ])('is told when the threshold was %s after the account was read', async (_, before) => {
    given(before);
    const account = stored();
    await setBalanceWebhook(ACCOUNT_ID, balanceWebhook);

    await create(2, { account });
    expect(deliveries()).toEqual([`${ACCOUNT_ID}_low_4`]);
  });

  test('is not reported when the webhook was removed after the account was read', async () => {
    const account = stored();
    await setBalanceWebhook(ACCOUNT_ID, undefined);

    await create(2, { account });
    expect(events()).toEqual([]);
  });

  test('to exactly the threshold is not reported, and one from exactly there is', async () => {
    given({ balanceWebhook: { ...balanceWebhook, belowThousandths: 94_000 } });

    await create();
    expect(events()).toEqual([]);

    await create();
    expect(deliveries()).toEqual([LOW]);
  });

  test.each([undefined, 'correction-7'])(
    'is told when staff makes it, by the reconciler: key %s',
    async (key) => {
      const change = { amountThousandths: -20_000, reason: 'admin_adjustment', reference: '' } as const;
      await changeBalance(ACCOUNT_ID, { ...change, idempotencyKey: key }, NOW);
      expect(events()).toHaveLength(1);
      expect(deliveries()).toEqual([]);

      await reconcile();
      expect(deliveries()).toEqual([`${ACCOUNT_ID}_low_4`]);
    },
  );

  test('is told once by creations at the same time', async () => {
    const account = stored();
    await Promise.all([1, 2, 3, 4].map(() => create(1, { account })));

    expect(stored().balanceThousandths).toBe(76_000);
    expect(events()).toHaveLength(1);
    expect(deliveries()).toEqual([LOW]);
  });

  test('is told once by a creation that is repeated', async () => {
    await create(2, { key: 'once' });
    const account = stored();
    await create(2, { key: 'once', account }).catch(() => undefined);

    expect(events()).toHaveLength(1);
    expect(deliveries()).toHaveLength(1);
  });

  test('is told when the answer of its transaction is lost', async () => {
    memory.afterTransaction = (attempt) => {
      if (attempt === 1) throw Object.assign(new Error('lost'), { name: 'TransactionInProgressException' });
    };
    await create(2);
    expect(events()).toHaveLength(1);

    await reconcile();
    expect(deliveries()).toEqual([`${ACCOUNT_ID}_low_4`]);
  });

  test('is told by the reconciler when its process dies before the delivery starts, and stays due until it is', async () => {
    lambda.on(InvokeCommand).rejects(new Error('no answer'));
    await create(2);
    lambda.reset();
    lambda.on(InvokeCommand).resolves({ StatusCode: 202 });

    await reconcile(29);
    expect(deliveries()).toEqual([]);
    await reconcile();
    expect(deliveries()).toEqual([`${ACCOUNT_ID}_low_4`]);
    // Until the attempt is made, it stays due.
    expect((await listDue('CHECK', atSeconds(3_600).toISOString(), 10)).items).toMatchObject([
      { work: { kind: 'webhook', eventId: `${ACCOUNT_ID}_low_4` } },
    ]);
    expect(events()).toMatchObject([{ ttl: Date.parse(NOW.toISOString()) / 1000 + 100 * 86_400 }]);
  });

  test('is not reported twice when its writer and the reconciler start the delivery', async () => {
    await create(2);
    await reconcile();

    expect(deliveries()).toHaveLength(1);
    expect(events()[0]).not.toHaveProperty('GSI1PK');
  });
});

test.each<[string, Partial<Account>]>([
  ['without a webhook', {}],
  ['whose threshold is not crossed', { balanceWebhook }],
])('a creation costs an account %s no call, write or byte more', async (_, overrides) => {
  given(overrides);
  await create();

  expect(memory.calls()).toEqual({ TransactWriteCommand: 1 });
  expect(memory.transactions[0]?.TransactItems).toHaveLength(4);
  const changed = { balanceThousandths: 94_000, ledgerEntries: 4, balanceUpdatedAt: NOW.toISOString() };
  expect(memory.get(accountKey(ACCOUNT_ID))).toStrictEqual({
    ...accountKey(ACCOUNT_ID),
    ...anAccount({ ...overrides, ...changed }),
    earnedWork: expect.anything(),
  });
  expect(deliveries()).toEqual([]);
});

test('the removal of an account removes the events of its balance and their attempts, and keeps late ones out', async () => {
  given();
  await create(2);
  const [{ eventId = '' } = {}] = events() as { eventId?: string }[];
  putAttempt(memory, aWebhookAttempt({ requestId: eventId, delivery: eventId }));

  await deleteAccount(ACCOUNT_ID, NOW);
  const late = { requestId: eventId, delivery: eventId, number: 2 };
  expect(await claimAttempt(late, NOW.toISOString(), false)).toBe(false);

  expect(memory.partition(accountPartition(ACCOUNT_ID))).toEqual([]);
  expect(memory.partition(webhookAttemptPartition(eventId))).toEqual([
    { ...webhookAttemptsEndKey(eventId), ttl: NOW.getTime() / 1000 + 86_400 },
  ]);
});
