import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Account } from '../../../../core/accounts/accounts.ts';
import { setBalanceWebhook } from '../../../../core/accounts/debit-settings.ts';
import { PaymentRequiredError } from '../../../../core/errors.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { logger } from '../../../../core/observability.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { balanceWebhook, create, deliveries, events, given, stored } from './a-balance-webhook.ts';

const warned = jest.spyOn(logger, 'warn').mockReturnValue();
const failed = jest.spyOn(logger, 'error').mockReturnValue();
beforeEach(() => {
  warned.mockClear();
  failed.mockClear();
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

test('a refusal for want of balance costs an account without a webhook no call', async () => {
  given({ balanceThousandths: 0 });

  await expect(create()).rejects.toThrow(PaymentRequiredError);
  expect(memory.calls()).toEqual({});
  expect(deliveries()).toEqual([]);
});
