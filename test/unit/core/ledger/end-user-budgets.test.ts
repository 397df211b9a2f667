import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotFoundError, ServiceError } from '../../../../core/errors.ts';
import { newRequestId } from '../../../../core/ids.ts';
import {
  getEndUserBudget,
  putEndUserBudget,
  renderBudget,
} from '../../../../core/ledger/end-user-budgets.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { endUserKey, ledgerEntryKey, requestKey, spentKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
} from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const BUDGET = { perDayThousandths: 20_000 };
const DAY = NOW.toISOString().slice(0, 10);
const stored = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
const spent = (period: string) =>
  memory.get(spentKey(ACCOUNT_ID, anEndUser().endUserId, period))?.spentThousandths;
const put = (createdAt: string, overrides: Partial<ImageRequest> = {}) =>
  putRequest(
    memory,
    anImageRequest({ requestId: newRequestId('image', new Date(createdAt)), createdAt, ...overrides }),
  );
const SPENDING = { dayThousandths: 4_000, monthThousandths: 7_000 };
beforeEach(() => {
  putEndUser(memory, anEndUser());
  put(`${DAY}T00:00:00.000Z`);
  put('2026-11-01T00:00:00.000Z', { refundThousandths: 1_000, status: 'succeeded' });
  put('2026-10-31T23:59:59.999Z');
  put(`${DAY}T00:00:01.000Z`, { endUserId: 'another_before' });
});

describe('the spending of an end-user without a budget', () => {
  const putMany = (count: number) => {
    for (let index = 0; index < count; index++)
      put(`${DAY}T00:01:${String(index % 60).padStart(2, '0')}.000Z`);
  };

  test('is added up of 1,000 requests of the month at once', async () => {
    putMany(997);

    expect((await getEndUserBudget(id, NOW)).spending).toEqual({
      ...{ dayThousandths: 998 * 4_000, monthThousandths: 998 * 4_000 + 3_000 },
    });
    expect(memory.calls()).toEqual({ BatchGetCommand: 10, GetCommand: 1, QueryCommand: 3 });
  });

  test('is added up of more for one call of the account at a time, and of any number for the first budget', async () => {
    putMany(1_200);
    const spending = { dayThousandths: 1_201 * 4_000, monthThousandths: 1_201 * 4_000 + 3_000 };

    const ends = await Promise.allSettled([getEndUserBudget(id, NOW), getEndUserBudget(id, NOW)]);

    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: ServiceError.name, code: 'rate_limited', retryAfterSeconds: 5 },
    });
    expect(await putEndUserBudget(id, undefined, NOW)).toEqual({ budget: undefined, spending });
    expect(await putEndUserBudget(id, BUDGET, NOW)).toEqual({ budget: BUDGET, spending });
  });
});

describe('the first budget of an end-user', () => {
  test('begins with what the requests of the day and the month cost, less refunds', async () => {
    expect(await putEndUserBudget(id, BUDGET, NOW)).toEqual({ budget: BUDGET, spending: SPENDING });

    expect(stored()).toMatchObject({ budget: BUDGET, budgetSince: NOW.toISOString() });
    expect([spent(DAY), spent('2026-11'), spent('2026-10')]).toEqual([4_000, 7_000, undefined]);
    expect(await getEndUserBudget(id, NOW)).toEqual({ budget: BUDGET, spending: SPENDING });
  });

  test.each([
    [
      'just after midnight begins the day before, too',
      '2026-12-05T00:01:59.999Z',
      '2026-12-04T23:59:59.999Z',
    ],
    [
      'just before midnight counts what a faster clock created after it',
      '2026-12-05T23:59:59.999Z',
      '2026-12-06T00:00:00.001Z',
    ],
    [
      'in the first minutes of a month begins the month before, too',
      '2027-01-01T00:01:59.999Z',
      '2026-12-31T23:00:00.000Z',
    ],
  ])('%s', async (_, at, createdAt) => {
    putEndUser(memory, anEndUser({ lastActiveAt: createdAt }));
    put(createdAt);

    await putEndUserBudget(id, BUDGET, new Date(at));

    expect([spent(createdAt.slice(0, 10)), spent(createdAt.slice(0, 7))]).toEqual([4_000, 4_000]);
    expect(spent(at.slice(0, 10))).toBe(0);
  });

  test('counts a request that is created while it is set', async () => {
    memory.beforeTransaction = (attempt) => {
      if (attempt !== 1) return;
      put(NOW.toISOString());
      memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { totalRequests: 3, spentThousandths: 12_000 });
    };

    await putEndUserBudget(id, BUDGET, NOW);

    expect([spent(DAY), spent('2026-11')]).toEqual([8_000, 11_000]);
  });

  test('counts a refund that is made while it is set', async () => {
    const requestId = newRequestId('image', NOW);
    put(NOW.toISOString(), { requestId });
    memory.beforeTransaction = (attempt) => {
      if (attempt !== 1) return;
      put(NOW.toISOString(), { requestId, refundThousandths: 4_000, status: 'failed' });
      memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { spentThousandths: 0 });
    };

    await putEndUserBudget(id, BUDGET, NOW);

    expect([spent(DAY), stored()?.budget]).toEqual([4_000, BUDGET]);
  });

  test('is 503 when their requests change all the time, and nothing is written', async () => {
    memory.beforeTransaction = (attempt) =>
      memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { totalRequests: 3 + attempt });

    await expect(putEndUserBudget(id, BUDGET, NOW)).rejects.toMatchObject({
      ...{ name: ServiceError.name, code: 'temporarily_unavailable', retryAfterSeconds: 1 },
    });
    expect(stored()).not.toHaveProperty('budget');
    expect(spent(DAY)).toBeUndefined();
  });

  test('begins after the last creation, whose clock may be ahead', async () => {
    const lastActiveAt = new Date(NOW.getTime() + 5).toISOString();
    putEndUser(memory, anEndUser({ lastActiveAt }));

    await putEndUserBudget(id, BUDGET, NOW);

    expect(stored()?.budgetSince).toBe(lastActiveAt);
  });
});

test('a request that the index does not show yet is counted, since the ledger names it', async () => {
  const requestId = newRequestId('image', NOW);
  const { GSI2PK: _, GSI3PK: __, ...unlisted } = { GSI2PK: '', GSI3PK: '', ...anImageRequest({ requestId }) };
  memory.put(requestKey(requestId), { ...unlisted, createdAt: NOW.toISOString() });
  const entry = { reason: 'generation' as const, type: 'debit' as const, reference: requestId };
  memory.put(ledgerEntryKey(ACCOUNT_ID, 1), {
    ...aLedgerEntry(1),
    ...entry,
    endUserId: anEndUser().endUserId,
  });

  expect((await getEndUserBudget(id, NOW)).spending?.dayThousandths).toBe(8_000);
});

describe('a later budget', () => {
  beforeEach(() => putEndUserBudget(id, BUDGET, NOW).then(() => undefined));

  test('keeps the counts', async () => {
    memory.patch(spentKey(ACCOUNT_ID, anEndUser().endUserId, DAY), { spentThousandths: 19_000 });
    const later = new Date(NOW.getTime() + 1_000);

    const { spending } = await putEndUserBudget(id, { perMonthThousandths: 0 }, later);

    expect(spending).toEqual({ dayThousandths: 19_000, monthThousandths: 7_000 });
    expect(stored()).toMatchObject({ budget: { perMonthThousandths: 0 }, budgetSince: NOW.toISOString() });
    expect(stored()?.budget).not.toHaveProperty('perDayThousandths');
  });

  test('that is none ends the counting; the next one begins with the requests again', async () => {
    memory.patch(spentKey(ACCOUNT_ID, anEndUser().endUserId, DAY), { spentThousandths: 19_000 });

    await putEndUserBudget(id, undefined, NOW);

    expect(stored()).not.toHaveProperty('budget');
    expect(stored()).not.toHaveProperty('budgetSince');
    expect(await getEndUserBudget(id, NOW)).toEqual({ budget: undefined, spending: SPENDING });
    await putEndUserBudget(id, BUDGET, NOW);
    expect(spent(DAY)).toBe(4_000);
  });

  test('counts anew on the next day', async () => {
    const nextDay = new Date(NOW.getTime() + 86_400_000);

    expect((await getEndUserBudget(id, nextDay)).spending).toEqual({
      dayThousandths: 0,
      monthThousandths: 7_000,
    });
  });
});

test.each([
  ['a first', {}],
  ['a changed', { budget: { perDayThousandths: 1 }, budgetSince: NOW.toISOString() }],
])(
  '%s budget is set for an end-user who took the place of a removed one with the same activity',
  async (_, before) => {
    putEndUser(memory, anEndUser(before));
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { endUserId: 'another' });
    };

    await putEndUserBudget(id, BUDGET, NOW);

    expect(stored()).toMatchObject({ endUserId: 'another', budget: BUDGET });
    expect(memory.transactions).toHaveLength(2);
  },
);

test('a budget that was lifted since it was read is set as a first one, with its counts', async () => {
  putEndUser(
    memory,
    anEndUser({ budget: { perDayThousandths: 1 }, budgetSince: '2026-11-02T00:00:00.000Z' }),
  );
  memory.beforeTransaction = (attempt) => {
    if (attempt === 1) putEndUser(memory, anEndUser());
  };

  await putEndUserBudget(id, BUDGET, NOW);

  expect(stored()).toMatchObject({ budget: BUDGET, budgetSince: NOW.toISOString() });
  expect(spent(DAY)).toBe(4_000);
});

test('a first budget changes the one that another call has set since', async () => {
  const budgetSince = '2026-11-02T00:00:00.000Z';
  memory.beforeTransaction = (attempt) => {
    if (attempt === 1) putEndUser(memory, anEndUser({ budget: { perDayThousandths: 1 }, budgetSince }));
  };

  await putEndUserBudget(id, BUDGET, NOW);

  expect(stored()).toMatchObject({ budget: BUDGET, budgetSince });
});

test('no budget that is lifted writes nothing', async () => {
  await putEndUserBudget(id, undefined, NOW);

  expect(memory.transactions).toEqual([]);
});

test('an end-user who does not exist has none, and is not inserted by the attempt', async () => {
  const nobody = { accountId: ACCOUNT_ID, email: 'nobody@example.com' };

  await expect(putEndUserBudget(nobody, BUDGET, NOW)).rejects.toThrow(NotFoundError);
  await expect(getEndUserBudget(nobody, NOW)).rejects.toThrow(NotFoundError);
  expect(memory.get(endUserKey(ACCOUNT_ID, nobody.email))).toBeUndefined();
});

test('a budget is shown in xTokens, a missing limit as null', () => {
  expect(renderBudget(id, { budget: BUDGET, spending: SPENDING })).toEqual({
    ...{ email: EMAIL, perDay: 20, perMonth: null },
    ...{ spentToday: 4, spentThisMonth: 7 },
  });
});
