import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Account, toAccount } from '../../../../core/accounts/accounts.ts';
import { putAccountRate } from '../../../../core/accounts/debit-settings.ts';
import { auditWrite } from '../../../../core/audit/audit.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { NotFoundError, ValidationError } from '../../../../core/errors.ts';
import { DEFAULT_RATES } from '../../../../core/models/catalog.ts';
import type { AccountRate, Rate } from '../../../../core/models/rate-schemas.ts';
import { accountRateOf } from '../../../../core/models/rates.ts';
import { accountKey, auditKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser } from '../../builders/entities.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { memory } from '../../fakes/fresh-table.ts';

const GENERAL: Rate = {
  perImage: [
    { maxPixels: 100, xTokens: 0.001 },
    { maxPixels: null, xTokens: 6.005 },
  ],
};
const inForce = (own: unknown, settings: { rate?: Rate } = { rate: GENERAL }) =>
  accountRateOf('xQI3Pro', settings, own === undefined ? {} : { rates: { xQI3Pro: own } });
const prices = (rate: Rate | undefined) =>
  rate && 'perImage' in rate ? rate.perImage.map(({ xTokens }) => xTokens) : undefined;

describe('the rate of an account', () => {
  test('is the general one without an own one', () => {
    expect(inForce(undefined)).toEqual(GENERAL);
    expect(accountRateOf('xQI3Pro', undefined, { rates: { xSD5Pro: { factorThousandths: 1 } } })).toBe(
      DEFAULT_RATES.xQI3Pro,
    );
    expect(accountRateOf('xOther', undefined, { rates: {} })).toBeUndefined();
  });

  test('is its own value, whatever the general one is', () => {
    const own: Rate = { perImage: [{ maxPixels: null, xTokens: 3 }] };
    expect(inForce(own)).toEqual(own);
  });

  test.each<[number, number[]]>([
    [1_000, [0.001, 6.005]],
    [800, [0.001, 4.804]],
    [500, [0.001, 3.003]],
    [1, [0.001, 0.006]],
    [100_000, [0.1, 600.5]],
  ])('is the general one times %s thousandths, rounded half up, never 0', (factorThousandths, expected) => {
    expect(prices(inForce({ factorThousandths }))).toEqual(expected);
  });

  test('follows the general one with a factor, also per second', () => {
    const settings = { rate: { perSecond: { '720p': 5, '1080p': 8 } } };
    const account = { rates: { 'xW2.7S': { factorThousandths: 900 } } };
    expect(accountRateOf('xW2.7S', settings, account)).toEqual({ perSecond: { '720p': 4.5, '1080p': 7.2 } });
  });

  test.each([[{ perToken: 1 }], [{ factor: 2 }], ['half'], [null]])(
    'is none when %j is what another version wrote: the general one would be a guess',
    (own) => {
      expect(inForce(own)).toBeUndefined();
    },
  );
});

describe('a creation of an account with a price of its own', () => {
  const create = (own: unknown, n = 2, facts = theFacts()) => {
    const account = anAccount({ rates: { xQI3Pro: own } });
    memory.put(accountKey(ACCOUNT_ID), account);
    return createRequest(account, anImageSubmission({ n }), facts);
  };

  test('is debited by it, and costs no call more', async () => {
    const { request } = await create({ factorThousandths: 500 });

    expect(request).toMatchObject({ unitPriceThousandths: 3_000, debitThousandths: 6_000 });
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 94_000 });
    expect(memory.calls()).toEqual({ TransactWriteCommand: 1 });
  });

  test('is refused when the price cannot be read', async () => {
    await expect(create({ perToken: 1 })).rejects.toThrow(
      expect.objectContaining({ name: ValidationError.name, fields: { model: 'cannot be dispatched now' } }),
    );
    expect(memory.transactions).toEqual([]);
  });

  test('whose price cannot be read is refused for all that is wrong with it, and before its end-user', async () => {
    const facts = theFacts({ endUser: anEndUser({ blockedAt: NOW.toISOString() }) });
    const model = 'cannot be dispatched now';

    await expect(create({ perToken: 1 }, 2, facts)).rejects.toMatchObject({ fields: { model } });
    await expect(create({ perToken: 1 }, 0)).rejects.toMatchObject({
      fields: { model, n: 'must be at least 1' },
    });
  });
});

describe('setting the price of an account', () => {
  const own: AccountRate = { factorThousandths: 800 };
  const stored = (): Account => toAccount(memory.get(accountKey(ACCOUNT_ID)) ?? {});
  beforeEach(() => memory.put(accountKey(ACCOUNT_ID), anAccount()));

  test('keeps those of other models, and is taken back by none', async () => {
    await putAccountRate(ACCOUNT_ID, 'xSD5Pro', { factorThousandths: 1_100 });
    await putAccountRate(ACCOUNT_ID, 'xQI3Pro', own);
    expect(stored().rates).toEqual({ xQI3Pro: own, xSD5Pro: { factorThousandths: 1_100 } });

    await putAccountRate(ACCOUNT_ID, 'xQI3Pro', undefined);
    expect(stored().rates).toEqual({ xSD5Pro: { factorThousandths: 1_100 } });
  });

  test('is recorded with it', async () => {
    const write = auditWrite(
      { actor: 'ada', action: 'rates set', accountId: ACCOUNT_ID, subject: 'xQI3Pro' },
      NOW,
    );
    await putAccountRate(ACCOUNT_ID, 'xQI3Pro', own, [write]);

    expect(stored().rates).toEqual({ xQI3Pro: own });
    expect(memory.partition(auditKey('').PK)).toMatchObject([{ action: 'rates set', subject: 'xQI3Pro' }]);
  });

  test('needs the account', async () => {
    memory.remove(accountKey(ACCOUNT_ID));
    await expect(putAccountRate(ACCOUNT_ID, 'xQI3Pro', own)).rejects.toThrow(NotFoundError);
  });
});
