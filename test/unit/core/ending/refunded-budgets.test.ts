import { describe, expect, test } from '@jest/globals';
import { writeEnd } from '../../../../core/ending/write-end.ts';
import { METRIC } from '../../../../core/observability.ts';
import { toRequest } from '../../../../core/requests/requests.ts';
import { endUserKey, spentKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anEndUser, EMAIL } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';
import { endUser, FAILURE, given, request } from './an-ending.ts';

const { endUserId } = anEndUser();
const CREATED = '2026-11-20T10:00:00.000Z';
const spent = (owner: string, period: string) =>
  memory.get(spentKey(ACCOUNT_ID, owner, period))?.spentThousandths;
const count = (owner: string, ...periods: string[]) => {
  for (const period of periods) memory.put(spentKey(ACCOUNT_ID, owner, period), { spentThousandths: 10_000 });
};
const fail = (at = NOW) => {
  const stored = toRequest({ ...request() });
  return writeEnd({ request: stored, attempts: [] }, { status: 'failed', error: FAILURE }, at);
};
/** The end-user of the request has a budget whose counts began at this instant. */
const withBudget = (budgetSince: string) =>
  memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { budget: { perDayThousandths: 10_000 }, budgetSince });

describe('a refund', () => {
  test('goes back to the day and the month of its debit, for all for whom that was counted', async () => {
    given({ createdAt: CREATED, budgetOwners: [endUserId, 'key_1'] });
    withBudget('2026-11-01T00:00:00.000Z');
    const periods = ['2026-11-20', '2026-11', '2026-12-02', '2026-12'];
    for (const owner of [endUserId, 'key_1']) count(owner, ...periods);

    await fail(new Date('2026-12-02T00:00:00.000Z'));

    for (const owner of [endUserId, 'key_1']) {
      expect(periods.map((period) => spent(owner, period))).toEqual([6_000, 6_000, 10_000, 10_000]);
    }
  });

  test('is paid though a count cannot be read, which is logged; the other counts get theirs', async () => {
    given({ createdAt: CREATED, budgetOwners: [endUserId, 'key_1'] });
    withBudget('2026-11-01T00:00:00.000Z');
    for (const owner of [endUserId, 'key_1']) count(owner, '2026-11-20', '2026-11');
    memory.patch(spentKey(ACCOUNT_ID, 'key_1', '2026-11'), { spentThousandths: 'much' });
    const counted = metricsCounted();

    await fail();

    expect(request()).toMatchObject({ status: 'failed', refundThousandths: 4_000 });
    expect(['2026-11-20', '2026-11'].map((period) => spent(endUserId, period))).toEqual([6_000, 6_000]);
    expect(['2026-11-20', '2026-11'].map((period) => spent('key_1', period))).toEqual([6_000, 'much']);
    expect(counted()).toContainEqual([METRIC.itemUnreadable, {}]);
  });

  test('of a request that was there before the budget goes back to the counts that began with it', async () => {
    given({ createdAt: CREATED });
    withBudget(CREATED);
    count(endUserId, '2026-11-20', '2026-11');

    await fail();

    expect([spent(endUserId, '2026-11-20'), spent(endUserId, '2026-11')]).toEqual([6_000, 6_000]);
    expect(endUser()).toMatchObject({ spentThousandths: 56_000, activeRequests: 0 });
  });

  test('of a request that was counted goes back once, though a later budget began with its debit', async () => {
    given({ createdAt: CREATED, budgetOwners: [endUserId] });
    withBudget('2026-11-25T00:00:00.000Z');
    count(endUserId, '2026-11-20', '2026-11');

    await fail();

    expect([spent(endUserId, '2026-11-20'), spent(endUserId, '2026-11')]).toEqual([6_000, 6_000]);
    expect(memory.transactions).toHaveLength(1);
  });

  test('of a request that no count has, since the release before created it, goes back to none', async () => {
    given({ createdAt: CREATED });
    withBudget('2026-11-20T09:59:59.999Z');
    count(endUserId, '2026-11-20', '2026-11');

    await fail();

    expect(spent(endUserId, '2026-11')).toBe(10_000);
    expect(endUser()).toMatchObject({ spentThousandths: 56_000 });
  });

  test('finds the budget that was set while it was planned', async () => {
    given({ createdAt: CREATED });
    memory.beforeTransaction = (attempt) => {
      if (attempt !== 1) return;
      withBudget(CREATED);
      count(endUserId, '2026-11');
    };

    await fail();

    expect(spent(endUserId, '2026-11')).toBe(6_000);
  });

  test('without a budget writes nothing more', async () => {
    given({ createdAt: CREATED });

    await fail();

    expect(memory.transactions.map(({ TransactItems = [] }) => TransactItems.length)).toEqual([4]);
  });
});

test.each<[string, string[] | undefined]>([
  ['counts', [endUserId]],
  ['does not count', undefined],
])('an end without a refund changes no budget that %s its debit', async (_, budgetOwners) => {
  given({ createdAt: CREATED, ...(budgetOwners && { budgetOwners }) });
  withBudget(CREATED);
  count(endUserId, '2026-11');
  const stored = toRequest({ ...request() });

  await writeEnd(
    { request: stored, attempts: [] },
    { status: 'succeeded', costThousandths: stored.debitThousandths, expiresAt: CREATED },
    NOW,
  );

  expect(spent(endUserId, '2026-11')).toBe(10_000);
  expect(memory.transactions.map(({ TransactItems = [] }) => TransactItems.length)).toEqual([2]);
});
