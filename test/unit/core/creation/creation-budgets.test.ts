import { beforeEach, describe, expect, test } from '@jest/globals';
import { itemBytes } from '../../../../bench/costs/table-units.ts';
import { type Account, toAccount } from '../../../../core/accounts/accounts.ts';
import { setKeyBudget } from '../../../../core/accounts/debit-settings.ts';
import type { Budget } from '../../../../core/budgets/budget-rules.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { toEndUser } from '../../../../core/end-users/end-users.ts';
import { ConflictError } from '../../../../core/errors.ts';
import { accountKey, endUserKey, requestKey, spentKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, EMAIL, KEY_ID, putEndUser } from '../../builders/entities.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { entries, memory } from './a-creation.ts';

const DAY = NOW.toISOString().slice(0, 10);
const MONTH = NOW.toISOString().slice(0, 7);
const { endUserId } = anEndUser();
const keyOf = { endUser: endUserKey(ACCOUNT_ID, EMAIL), account: accountKey(ACCOUNT_ID) };
const theAccount = () => toAccount(memory.get(keyOf.account) ?? {});
beforeEach(() => {
  memory.put(keyOf.account, anAccount({ balanceThousandths: 1_000_000 }));
});

const given = (budget: Budget | undefined, spent: { day?: number; month?: number } = {}) => {
  putEndUser(memory, anEndUser(budget && { budget, budgetSince: NOW.toISOString() }));
  if (spent.day !== undefined)
    memory.put(spentKey(ACCOUNT_ID, endUserId, DAY), { spentThousandths: spent.day });
  if (spent.month !== undefined)
    memory.put(spentKey(ACCOUNT_ID, endUserId, MONTH), { spentThousandths: spent.month });
};
const giveKey = (budget: Budget | undefined) =>
  setKeyBudget({ accountId: ACCOUNT_ID, keyId: KEY_ID }, budget);
/** Creates images of 6 xTokens each, as the account is when the call comes. */
const create = async ({ n = 1, account = theAccount() }: { n?: number; account?: Account } = {}) =>
  createRequest(account, anImageSubmission({ n }), theirFacts());
/** The facts of a creation, with the end-user as stored. */
const theirFacts = () => {
  const item = memory.get(keyOf.endUser);
  return theFacts({ endUser: item && toEndUser(item) });
};
const spentBy = (owner: string) => ({
  day: memory.get(spentKey(ACCOUNT_ID, owner, DAY))?.spentThousandths,
  month: memory.get(spentKey(ACCOUNT_ID, owner, MONTH))?.spentThousandths,
});
const nothingWritten = (balance = 1_000_000) => {
  expect(memory.get(keyOf.account)).toMatchObject({ balanceThousandths: balance });
  expect(entries()).toEqual([]);
};

describe('a creation of an end-user with a budget', () => {
  test('is counted in the day and the month, which the request says, and which go 40 days after they end', async () => {
    given({ perDayThousandths: 20_000 }, { day: 3_000, month: 4_000 });

    const { request } = await create({ n: 2 });

    expect(spentBy(endUserId)).toEqual({ day: 15_000, month: 16_000 });
    expect(memory.get(requestKey(request.requestId))).toMatchObject({ budgetOwners: [endUserId] });
    const days = (period: string) =>
      Number(memory.get(spentKey(ACCOUNT_ID, endUserId, period))?.ttl) / 86_400;
    expect(days(DAY)).toBe(Date.parse(DAY) / 86_400_000 + 41);
    expect(days(MONTH)).toBe(Date.parse('2026-12-01') / 86_400_000 + 40);
  });

  test('may spend exactly what is left', async () => {
    given({ perDayThousandths: 12_000, perMonthThousandths: 12_000 }, { day: 6_000, month: 6_000 });

    await create();

    expect(spentBy(endUserId)).toEqual({ day: 12_000, month: 12_000 });
  });

  test.each<[string, Budget, { day?: number; month?: number }, string]>([
    [
      'the day',
      { perDayThousandths: 12_000, perMonthThousandths: 90_000 },
      { day: 6_001, month: 6_001 },
      "the end-user's daily budget is 12 xTokens, of which 6.001 xTokens are spent. It renews at 2026-11-21T00:00:00.000Z.",
    ],
    [
      'the month',
      { perMonthThousandths: 12_000 },
      { day: 0, month: 6_001 },
      "the end-user's monthly budget is 12 xTokens, of which 6.001 xTokens are spent. It renews at 2026-12-01T00:00:00.000Z.",
    ],
    [
      'the day, of which nothing is spent',
      { perDayThousandths: 5_999 },
      {},
      "the end-user's daily budget is 5.999 xTokens, of which 0 xTokens are spent. It renews at 2026-11-21T00:00:00.000Z.",
    ],
    [
      'a day without any spending',
      { perDayThousandths: 0 },
      { day: 0 },
      "the end-user's daily budget is 0 xTokens",
    ],
  ])('is refused above what is left of %s, and nothing is written', async (_, budget, spent, message) => {
    given(budget, spent);
    const before = spentBy(endUserId);

    await expect(create()).rejects.toThrow(
      expect.objectContaining({
        code: 'payment_required',
        message: expect.stringContaining(`This request costs 6 xTokens; ${message}`),
      }),
    );
    expect(spentBy(endUserId)).toEqual(before);
    nothingWritten();
  });

  test('never spends more than it together with others at the same time', async () => {
    given({ perDayThousandths: 60_000 });

    const ends = await Promise.allSettled(Array.from({ length: 30 }, () => create()));

    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(spentBy(endUserId)).toEqual({ day: 60_000, month: 60_000 });
    expect(memory.get(keyOf.account)).toMatchObject({ balanceThousandths: 940_000 });
  });

  test('is counted, and judged, when the budget was set after it was read', async () => {
    given(undefined);
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) given({ perDayThousandths: 7_000 }, { day: 2_000, month: 2_000 });
    };

    await expect(create()).rejects.toThrow('of which 2 xTokens are spent');
    nothingWritten();
  });

  test('keeps to a budget that was changed after it was read', async () => {
    given({ perDayThousandths: 90_000 }, { day: 2_000, month: 2_000 });
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) memory.patch(keyOf.endUser, { budget: { perDayThousandths: 7_000 } });
    };

    await expect(create()).rejects.toThrow("the end-user's daily budget is 7 xTokens");
    nothingWritten();
  });

  test('is not refused by a budget that was raised after it was read', async () => {
    given({ perDayThousandths: 7_000 }, { day: 2_000, month: 2_000 });
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) memory.patch(keyOf.endUser, { budget: { perDayThousandths: 8_000 } });
    };

    await create();

    expect(spentBy(endUserId)).toEqual({ day: 8_000, month: 8_000 });
  });

  test('that repeats one which took the last of the budget is that one', async () => {
    given({ perDayThousandths: 6_000 });
    const twin = anImageSubmission({ n: 1 }, { idempotencyKey: 'order-17' });
    const both = theirFacts();
    const account = anAccount({ balanceThousandths: 1_000_000 });

    const first = await createRequest(account, twin, both);
    const second = await createRequest(account, twin, both);

    expect(second).toEqual({
      request: expect.objectContaining({ requestId: first.request.requestId }),
      replayed: true,
    });
    expect(spentBy(endUserId)).toEqual({ day: 6_000, month: 6_000 });
  });
});

describe('a creation with a key that has a budget', () => {
  test('is counted for the key, and for the end-user if they have one, too', async () => {
    given({ perMonthThousandths: 50_000 });

    await giveKey({ perDayThousandths: 6_000 });

    const { request } = await create();

    expect([spentBy(KEY_ID), spentBy(endUserId)]).toEqual([
      { day: 6_000, month: 6_000 },
      { day: 6_000, month: 6_000 },
    ]);
    expect(memory.get(requestKey(request.requestId))?.budgetOwners).toEqual([endUserId, KEY_ID]);
  });

  test('is refused above it, and the end-user is not counted either', async () => {
    given({ perMonthThousandths: 50_000 });
    await giveKey({ perDayThousandths: 6_000 });
    await create();

    await expect(create()).rejects.toThrow(
      "the API key's daily budget is 6 xTokens, of which 6 xTokens are spent",
    );
    expect(spentBy(endUserId)).toEqual({ day: 6_000, month: 6_000 });
  });

  test('counts for an end-user who is new', async () => {
    await giveKey({ perDayThousandths: 6_000 });

    await create();

    expect(spentBy(KEY_ID)).toEqual({ day: 6_000, month: 6_000 });
  });

  test.each<[string, Budget | undefined]>([
    ['lowered', { perDayThousandths: 90_000 }],
    ['set for the first time', undefined],
  ])('keeps to a budget that was %s after it was read', async (_, former) => {
    await giveKey(former);
    const account = theAccount();
    await giveKey({ perDayThousandths: 5_000 });

    await expect(create({ account })).rejects.toThrow("the API key's daily budget is 5 xTokens");
    nothingWritten();
  });

  test('is neither counted nor refused once the budget is lifted', async () => {
    await giveKey({ perDayThousandths: 0 });
    const account = theAccount();
    await giveKey(undefined);

    const { request } = await create({ account });

    expect(spentBy(KEY_ID)).toEqual({ day: undefined, month: undefined });
    expect(memory.get(requestKey(request.requestId))).not.toHaveProperty('budgetOwners');
  });

  test('of another key is not limited by it', async () => {
    await setKeyBudget({ accountId: ACCOUNT_ID, keyId: 'key_other' }, { perDayThousandths: 0 });

    await create();

    expect(spentBy(KEY_ID)).toEqual({ day: undefined, month: undefined });
  });
});

test('100 keys of an account have a budget at most, which can be changed and lifted', async () => {
  const budget = { perDayThousandths: 0 };
  const keyBudgets = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key_${index}`, budget]));
  memory.patch(keyOf.account, { keyBudgets });

  await expect(giveKey(budget)).rejects.toThrow(ConflictError);
  // A key without a budget has none to lift.
  await giveKey(undefined);
  await setKeyBudget({ accountId: ACCOUNT_ID, keyId: 'key_7' }, { perDayThousandths: 9 });
  await setKeyBudget({ accountId: ACCOUNT_ID, keyId: 'key_8' }, undefined);
  await giveKey(budget);

  expect(theAccount().keyBudgets).toMatchObject({ key_7: { perDayThousandths: 9 }, [KEY_ID]: budget });
});

describe('a creation without budgets, webhooks and idempotency key', () => {
  test('is one call of four writes, as before there were any', async () => {
    given(undefined);

    const { request } = await create();

    const names = memory.client.calls().map(({ args }) => args[0].constructor.name);
    expect(names).toEqual(['TransactWriteCommand']);
    expect(memory.transactions.map(({ TransactItems = [] }) => TransactItems.length)).toEqual([4]);
    expect(memory.get(requestKey(request.requestId))).not.toHaveProperty('budgetOwners');
    expect(memory.get(keyOf.endUser)).not.toHaveProperty('budget');
  });

  /** The bytes of model, end-user's id and key in a ledger entry, names included. */
  const USED_BY = 92;

  test('writes the bytes that it wrote before usage was told, and what usage is told by in its ledger entry', async () => {
    given(undefined);
    const account = anAccount();
    memory.put(keyOf.account, account);

    const { request } = await create({ account });

    const [entry] = entries();
    const { account: ofAccount, endUser } = keyOf;
    const items = [
      memory.get(ofAccount),
      entry,
      memory.get(endUser),
      memory.get(requestKey(request.requestId)),
    ];
    expect(items.map(itemBytes)).toEqual([310, 297 + USED_BY, 358, 590]);
  });
});
