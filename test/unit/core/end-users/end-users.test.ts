import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import type { Budget } from '../../../../core/budgets/budget-rules.ts';
import {
  blockEndUser,
  countCreationWrite,
  countSettlementWrite,
  type EndUser,
  getEndUser,
  renderEndUser,
  toEndUser,
  unblockEndUser,
} from '../../../../core/end-users/end-users.ts';
import { NotFoundError } from '../../../../core/errors.ts';
import { endUserKey, endUserListing } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import type { TransactItem } from '../../../../core/table/transactions.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const stored = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));

describe('an end-user', () => {
  test('is read by address, consistently, without its keys', async () => {
    putEndUser(memory, anEndUser());

    expect(await getEndUser(id)).toStrictEqual(anEndUser());
    expect(memory.client.commandCalls(GetCommand)[0]?.args[0].input.ConsistentRead).toBe(true);
  });

  test('is shown with a decimal amount and whether they are blocked, and nothing of the inside', () => {
    const shown = {
      email: EMAIL,
      createdAt: '2026-11-10T09:00:00.000Z',
      lastActiveAt: '2026-11-19T09:00:00.000Z',
      totalRequests: 2,
      totalXTokensSpent: 8.125,
      blockedAt: null,
    };
    const blockedAt = NOW.toISOString();

    expect(renderEndUser(anEndUser({ spentThousandths: 8_125 }))).toStrictEqual(shown);
    expect(
      renderEndUser(anEndUser({ spentThousandths: 8_125, blockedAt, deletingAt: blockedAt })),
    ).toStrictEqual({ ...shown, blockedAt });
  });

  test('that is stored malformed is refused, not guessed', () => {
    expect(() => toEndUser({ ...anEndUser(), activeRequests: undefined })).toThrow();
  });

  test.each<[string, () => Promise<unknown>]>([
    ['read', () => getEndUser(id)],
    ['blocked', () => blockEndUser(id, NOW)],
    ['unblocked', () => unblockEndUser(id)],
  ])('that does not exist cannot be %s, and is not inserted by the attempt', async (_, act) => {
    putEndUser(memory, anEndUser({ email: 'other@example.com' }));

    await expect(act()).rejects.toThrow(NotFoundError);
    expect(stored()).toBeUndefined();
  });
});

test('blocking an end-user is renewed by a later instant and ends with unblocking, each in one update that changes nothing else', async () => {
  putEndUser(memory, anEndUser());
  const before = stored();

  for (const at of [NOW, atSeconds(5)]) {
    const blockedAt = at.toISOString();
    expect(await blockEndUser(id, at)).toStrictEqual(anEndUser({ blockedAt }));
    expect(stored()).toEqual({ ...before, blockedAt });
  }
  for (let time = 0; time < 2; time++) {
    expect(await unblockEndUser(id)).toStrictEqual(anEndUser());
    expect(stored()).toEqual(before);
  }
  expect(memory.calls()).toEqual({ UpdateCommand: 4 });
});

describe('the counters of an end-user', () => {
  const apply = (write: TransactItem) => table.send(new TransactWriteCommand({ TransactItems: [write] }));
  const created = (found?: EndUser) => apply(countCreationWrite(anImageRequest(), found));
  const counted = { totalRequests: 3, activeRequests: 2, spentThousandths: 12_000 };

  test('count a creation, which creates the end-user on first use', async () => {
    await created();

    expect(stored()).toEqual({
      PK: `USERS#${ACCOUNT_ID}`,
      SK: `END_USER#${EMAIL}`,
      ...endUserListing(ACCOUNT_ID, NOW.toISOString()),
      ...{ ...id, endUserId: REQUEST_ID, createdAt: NOW.toISOString(), lastActiveAt: NOW.toISOString() },
      ...{ totalRequests: 1, activeRequests: 1, spentThousandths: 4_000 },
    });
  });

  test.each([-1, 0, 1])(
    'count a creation with the end-user that was active %p s before: the last activity only gets later',
    async (seconds) => {
      const found = anEndUser({ lastActiveAt: atSeconds(-seconds).toISOString() });
      putEndUser(memory, found);
      const before = stored();

      await created(found);

      const lastActiveAt = atSeconds(Math.max(0, -seconds)).toISOString();
      expect(stored()).toEqual({ ...before, ...counted, lastActiveAt });
    },
  );

  test.each<[string, Partial<EndUser>, EndUser | undefined]>([
    ['is blocked', { blockedAt: NOW.toISOString() }, anEndUser()],
    ['is being removed', { deletingAt: NOW.toISOString() }, anEndUser()],
    ['is another one by now', { endUserId: 'another' }, anEndUser()],
    ['has been active later', { lastActiveAt: atSeconds(1).toISOString() }, anEndUser()],
    ['was not found and is there by now', {}, undefined],
  ])('count no creation of one who %s: the refusal returns who is there', async (_, change, found) => {
    putEndUser(memory, anEndUser(change));
    const before = stored();

    await expect(created(found)).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: expect.anything() }],
    });
    expect(stored()).toEqual(before);
  });

  test.each<[string, Budget | undefined, object | undefined]>([
    ['raised for the day', { perDayThousandths: 1 }, { perDayThousandths: 2 }],
    ['raised for the month', { perMonthThousandths: 1 }, { perMonthThousandths: 2 }],
    [
      'limited for the day, too',
      { perMonthThousandths: 1 },
      { perMonthThousandths: 1, perDayThousandths: 1 },
    ],
    [
      'limited for the month, too',
      { perDayThousandths: 1 },
      { perDayThousandths: 1, perMonthThousandths: 1 },
    ],
    [
      'no longer limited for the day',
      { perDayThousandths: 1, perMonthThousandths: 1 },
      { perMonthThousandths: 1 },
    ],
    [
      'no longer limited for the month',
      { perDayThousandths: 1, perMonthThousandths: 1 },
      { perDayThousandths: 1 },
    ],
    ['set', undefined, { perDayThousandths: 1 }],
    ['lifted', { perDayThousandths: 1 }, undefined],
    ['lifted, of which another version knows the limits', {}, undefined],
  ])('count no creation of one whose budget was %s since', async (_, budget, now) => {
    putEndUser(memory, anEndUser(now && { budget: now }));
    const before = stored();

    await expect(created(anEndUser(budget && { budget }))).rejects.toThrow();
    expect(stored()).toEqual(before);
  });

  test.each<[Budget]>([[{ perDayThousandths: 1 }], [{ perMonthThousandths: 1 }], [{}]])(
    'count a creation of one whose budget is %j still, with limits of another version',
    async (budget) => {
      putEndUser(memory, anEndUser({ budget: { ...budget, perYearThousandths: 7 } as Budget }));

      await created(anEndUser({ budget }));
      expect(stored()).toMatchObject({ ...counted, budget: { ...budget, perYearThousandths: 7 } });
    },
  );

  test('count a settlement with its refund, even if the end-user was blocked since, and only of one who is there', async () => {
    putEndUser(memory, anEndUser({ blockedAt: NOW.toISOString() }));
    const before = stored();
    await apply(countSettlementWrite(id, 1_500));
    expect(stored()).toEqual({ ...before, activeRequests: 0, spentThousandths: 6_500 });

    memory.reset();
    await expect(apply(countSettlementWrite(id, 1_500))).rejects.toThrow();
    expect(stored()).toBeUndefined();
  });
});
