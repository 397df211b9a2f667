import { InvokeCommand } from '@aws-sdk/client-lambda';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Account, toAccount } from '../../../../core/accounts/accounts.ts';
import { setBalanceWebhook } from '../../../../core/accounts/debit-settings.ts';
import { deleteAccount } from '../../../../core/accounts/delete-account.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { claimAttempt } from '../../../../core/deliveries/webhook-attempts.ts';
import { PaymentRequiredError } from '../../../../core/errors.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { logger } from '../../../../core/observability.ts';
import { listDue } from '../../../../core/requests/due-items.ts';
import {
  accountKey,
  accountPartition,
  BALANCE_EVENT_PREFIX,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { putAttempt } from '../../builders/next-attempt.ts';
import { leadingTo } from '../../builders/providers.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { answering } from '../../builders/waiting-request.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { firstAttempts, lambda } from '../../fakes/fresh-first-attempts.ts';
import { memory } from '../../fakes/fresh-table.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);
const warned = jest.spyOn(logger, 'warn').mockReturnValue();
const failed = jest.spyOn(logger, 'error').mockReturnValue();
beforeEach(() => {
  warned.mockClear();
  failed.mockClear();
});

const balanceWebhook = { url: 'https://hooks.example.com/balance', belowThousandths: 90_000 };
/** An account with 100 xTokens that is told below 90. */
const given = (overrides: Partial<Account> = { balanceWebhook }) =>
  memory.put(accountKey(ACCOUNT_ID), anAccount(overrides));
const stored = () => toAccount(memory.get(accountKey(ACCOUNT_ID)) ?? {});
/** Creates images of 6 xTokens each, as the account is when the call comes. */
const create = (
  n = 1,
  { key, at = NOW, account = stored() }: { key?: string; at?: Date; account?: Account } = {},
) => createRequest(account, { ...anImageSubmission({ n }, { idempotencyKey: key }), now: at }, theFacts());
const events = () =>
  memory
    .partition(accountPartition(ACCOUNT_ID))
    .filter(({ SK }) => String(SK).startsWith(BALANCE_EVENT_PREFIX));
/** The webhooks whose first attempt was asked for, each once: an attempt is made once. */
const deliveries = () => [...new Set(firstAttempts())];
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

describe('a creation that is refused for want of balance', () => {
  beforeEach(() => given({ balanceWebhook, balanceThousandths: 5_000 }));
  const refused = (at = NOW, account?: Account) =>
    expect(create(1, { at, ...(account && { account }) })).rejects.toThrow(PaymentRequiredError);

  test('is told, with what it costs', async () => {
    await refused();

    const eventId = `${ACCOUNT_ID}_exhausted_${NOW.getTime() / 1000}`;
    expect(events()).toMatchObject([
      { eventId, type: 'balance.exhausted', balanceThousandths: 5_000, priceThousandths: 6_000 },
    ]);
    expect(deliveries()).toEqual([eventId]);
  });

  test('is told once by refusals at the same time, and while the balance stays as it is', async () => {
    const account = stored();
    await Promise.all([1, 2, 3].map(() => refused(NOW, account)));
    await refused(atSeconds(7_200));
    await refused(atSeconds(86_400));

    expect(events()).toHaveLength(1);
    expect(deliveries()).toHaveLength(1);
  });

  test('is told by the first of several refusals, and by no other although each knows of none', async () => {
    const account = stored();
    await refused(NOW, account);
    await refused(atSeconds(1), account);

    expect(deliveries()).toEqual([`${ACCOUNT_ID}_exhausted_${NOW.getTime() / 1000}`]);
  });

  test('is not told when the webhook was removed after the account was read', async () => {
    const account = stored();
    await setBalanceWebhook(ACCOUNT_ID, undefined);

    await refused(NOW, account);
    expect(events()).toEqual([]);
    expect(deliveries()).toEqual([]);
  });

  test('is told once while the balance stays as it is, also when the transaction found it lower than it was read', async () => {
    const account = anAccount({ balanceWebhook, balanceThousandths: 50_000, ledgerEntries: 2 });
    await refused(NOW, account);
    await refused(atSeconds(7_200));

    expect(events()).toHaveLength(1);
  });

  test('is told when another creation took the balance of which it was told before', async () => {
    await refused();
    const account = { ...stored(), balanceThousandths: 50_000 };
    await changeBalance(ACCOUNT_ID, { amountThousandths: 1, reason: 'topup', reference: '' }, NOW);
    await refused(atSeconds(7_200), account);

    expect(events()).toHaveLength(2);
  });

  test('is told at most once an hour, however often the balance changes', async () => {
    await refused();
    for (const minutes of [10, 20, 30, 59]) {
      await changeBalance(ACCOUNT_ID, { amountThousandths: 1, reason: 'topup', reference: '' }, NOW);
      await refused(atSeconds(minutes * 60));
    }
    expect(events()).toHaveLength(1);

    await refused(atSeconds(3_600));
    expect(events()).toHaveLength(2);
    expect(deliveries()).toHaveLength(2);
  });

  test('is told by what the transaction found, and stays a refusal when it cannot be told', async () => {
    await refused(NOW, anAccount({ balanceWebhook, balanceThousandths: 50_000, ledgerEntries: 2 }));
    expect(events()).toMatchObject([{ balanceThousandths: 5_000 }]);

    await setBalanceWebhook(ACCOUNT_ID, balanceWebhook);
    memory.beforeTransaction = () => {
      throw new Error('no table');
    };
    await refused(atSeconds(1));
    expect(events()).toHaveLength(1);
    expect(failed).toHaveBeenCalledTimes(1);
  });

  test('is told anew after the webhook is set again', async () => {
    await refused();
    await setBalanceWebhook(ACCOUNT_ID, balanceWebhook);
    await refused(atSeconds(1));

    expect(events()).toHaveLength(2);
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

test('a refusal for want of balance costs an account without a webhook no call', async () => {
  given({ balanceThousandths: 0 });

  await expect(create()).rejects.toThrow(PaymentRequiredError);
  expect(memory.calls()).toEqual({});
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
