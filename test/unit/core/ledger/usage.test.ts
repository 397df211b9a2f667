import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerEntry } from '../../../../core/ledger/ledger.ts';
import { findFirstEntryFrom, renderUsage, usageOf } from '../../../../core/ledger/usage.ts';
import type { UsageDimension } from '../../../../core/ledger/usage-rules.ts';
import { ledgerEntryKey } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, aLedgerEntry, anEndUser, putEndUser } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const ADA = 'img_01JCA3FXM00000000000000001';
const GONE = 'img_01JCA3FXM00000000000000002';
const OF_ADA = { model: 'xQI3Pro', endUserId: ADA, keyId: 'key_1' };
const OF_GONE = { model: 'xW3.0s', endUserId: GONE, keyId: 'key_2' };
const debit = (amount: number, createdAt: string, more: Partial<LedgerEntry>): Partial<LedgerEntry> => ({
  type: 'debit',
  reason: 'generation',
  amountThousandths: amount,
  createdAt,
  ...more,
});
const refund = (amount: number, createdAt: string, more: Partial<LedgerEntry>): Partial<LedgerEntry> => ({
  ...debit(amount, createdAt, more),
  type: 'credit',
  reason: 'refund',
});
const NOVEMBER = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };

let ledgerEntries = 0;
const put = (...entries: Partial<LedgerEntry>[]): void => {
  for (const entry of entries) {
    ledgerEntries += 1;
    memory.put(ledgerEntryKey(ACCOUNT_ID, ledgerEntries), aLedgerEntry(ledgerEntries, entry));
  }
};
const usage = async (by: UsageDimension[], range = NOVEMBER) =>
  (await usageOf({ accountId: ACCOUNT_ID, ledgerEntries }, { ...range, by })).groups.map(
    ({ requests, debitedThousandths, refundedThousandths, ...named }) => [
      ...by.map((dimension) => named[dimension]),
      requests,
      debitedThousandths,
      refundedThousandths,
    ],
  );

beforeEach(() => {
  ledgerEntries = 0;
  putEndUser(memory, anEndUser({ endUserId: ADA, email: 'ada@example.com' }));
});

describe('usage', () => {
  beforeEach(() => {
    put(
      debit(1_000, '2026-10-31T23:59:59.999Z', OF_ADA),
      { reason: 'topup', amountThousandths: 9_000, createdAt: '2026-11-01T00:00:00.000Z' },
      debit(2_000, '2026-11-01T00:00:00.000Z', OF_ADA),
      debit(3_000, '2026-11-01T23:59:59.999Z', OF_GONE),
      refund(500, '2026-11-02T00:00:00.000Z', { ...OF_ADA, keyId: undefined, debitNumber: 1 }),
      debit(4_000, '2026-11-30T23:59:59.999Z', OF_ADA),
      { reason: 'admin_adjustment', amountThousandths: 7_000, createdAt: '2026-11-30T23:59:59.999Z' },
      refund(3_000, '2026-12-01T00:00:00.000Z', { ...OF_GONE, keyId: undefined, debitNumber: 4 }),
    );
  });

  test('without a dimension is one sum, from the first instant to before the last, and only of requests', async () => {
    const { total } = await usageOf({ accountId: ACCOUNT_ID, ledgerEntries }, { ...NOVEMBER, by: [] });

    expect(total).toEqual({ requests: 3, debitedThousandths: 9_000, refundedThousandths: 500 });
  });

  test.each<[UsageDimension[], unknown[][]]>([
    [
      ['day'],
      [
        ['2026-11-01', 2, 5_000, 0],
        ['2026-11-02', 0, 0, 500],
        ['2026-11-30', 1, 4_000, 0],
      ],
    ],
    [
      ['model'],
      [
        ['xQI3Pro', 2, 6_000, 500],
        ['xW3.0s', 1, 3_000, 0],
      ],
    ],
    [
      ['endUser'],
      [
        ['ada@example.com', 2, 6_000, 500],
        [null, 1, 3_000, 0],
      ],
    ],
    [
      ['key', 'day'],
      [
        ['key_1', '2026-11-01', 1, 2_000, 0],
        ['key_1', '2026-11-02', 0, 0, 500],
        ['key_1', '2026-11-30', 1, 4_000, 0],
        ['key_2', '2026-11-01', 1, 3_000, 0],
      ],
    ],
  ])('by %j', async (by, groups) => {
    expect(await usage(by)).toEqual(groups);
  });

  test('counts all end-users that were deleted as one', async () => {
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 7), { createdAt: '2026-11-30T23:59:59.999Z' });
    put(debit(10, '2026-11-30T23:59:59.999Z', { ...OF_GONE, endUserId: `${GONE}3` }));

    expect(await usage(['endUser'])).toEqual([
      ['ada@example.com', 2, 6_000, 500],
      [null, 2, 3_010, 3_000],
    ]);
  });

  test('has no group where the ledger has no entry', async () => {
    const range = { from: '2027-01-01T00:00:00.000Z', to: '2027-02-01T00:00:00.000Z' };

    expect(await usage(['day'], range)).toEqual([]);
  });

  test('counts no entry that the account does not', async () => {
    ledgerEntries = 4;

    expect(await usage([])).toEqual([[2, 5_000, 0]]);
  });

  test.each([
    [
      'entries',
      { entries: 4 },
      { to: expect.stringMatching(/^gives 6 ledger entries; .* at most 4: ask for fewer days$/) },
    ],
    [
      'groups',
      { groups: 2 },
      { to: expect.stringMatching(/^gives 3 groups; .* at most 2: ask for fewer days$/) },
    ],
    [
      'end-users',
      { endUsers: 0 },
      { by: expect.stringMatching(/^gives 1 end-users; .* at most 0: leave out endUser$/) },
    ],
  ])('is refused over the limit of %s, with what would do', async (_name, limit, fields) => {
    const limits = { entries: 6, groups: 5, endUsers: 1, ...limit };
    const asked = usageOf(
      { accountId: ACCOUNT_ID, ledgerEntries },
      { ...NOVEMBER, by: ['day', 'endUser'] },
      limits,
    );

    await expect(asked).rejects.toMatchObject({ code: 'validation_error', fields });
  });
});

describe('usage of many entries', () => {
  const ALL_DAY = '2026-11-05T00:00:00.000Z';

  test('has each entry once, however many there are', async () => {
    for (let count = 1; count <= 13; count++) {
      put(debit(1_000, ALL_DAY, OF_ADA));

      expect(await usage(['day'])).toEqual([['2026-11-05', count, count * 1_000, 0]]);
    }
  });

  test('by key has each of thousands of refunds once, under the key of its debit', async () => {
    put(debit(9_000_000, ALL_DAY, OF_ADA), debit(9_000_000, ALL_DAY, OF_GONE));
    const count = 4_400;
    for (let index = 0; index < count; index++)
      put(refund(1, ALL_DAY, { ...OF_ADA, keyId: undefined, debitNumber: 1 + (index % 2) }));

    expect(await usage(['key'])).toEqual([
      ['key_1', 1, 9_000_000, count / 2],
      ['key_2', 1, 9_000_000, count / 2],
    ]);
  });

  test.each<[UsageDimension[], number]>([
    [['day', 'model'], 0],
    [['key'], 1],
  ])('by %j reads the debits of its refunds in %i calls', async (by, calls) => {
    put(debit(1_000, '2026-10-05T00:00:00.000Z', OF_ADA));
    put(refund(1_000, ALL_DAY, { ...OF_ADA, keyId: undefined, debitNumber: 1 }));
    const range = { accountId: ACCOUNT_ID, ledgerEntries };
    await usageOf(range, { ...NOVEMBER, by: [] });
    const searches = memory.calls().BatchGetCommand ?? 0;
    memory.client.resetHistory();

    await usageOf(range, { ...NOVEMBER, by });
    expect(memory.calls().BatchGetCommand).toBe(searches + calls);
  });
});

describe('usage as it is shown', () => {
  const sums = { requests: 2, debitedThousandths: 6_500, refundedThousandths: 500 };
  const shown = { requests: 2, debited: 6.5, refunded: 0.5, xTokens: 6 };
  const named = { day: '2026-11-01', model: 'xQI3Pro', endUser: 'ada@example.com', key: 'key_1' };
  const given = (by: UsageDimension[], group: object) =>
    renderUsage({ groups: [{ ...group, ...sums }], total: sums }, { ...NOVEMBER, by });

  test.each<[UsageDimension[], object]>([
    [['day'], { day: '2026-11-01' }],
    [['model'], { model: 'xQI3Pro' }],
    [['endUser'], { endUserEmail: 'ada@example.com' }],
    [['key'], { keyId: 'key_1' }],
    [
      ['day', 'model', 'endUser', 'key'],
      { day: '2026-11-01', model: 'xQI3Pro', endUserEmail: 'ada@example.com', keyId: 'key_1' },
    ],
  ])('by %j has the fields of these dimensions', (by, fields) => {
    const group = Object.fromEntries(by.map((name) => [name, named[name]]));

    expect(given(by, group)).toStrictEqual({
      ...{ from: '2026-11-01', to: '2026-12-01', by, items: [{ ...fields, ...shown }], total: shown },
    });
  });

  test('has null for what is not known', () => {
    const [item] = given(['model', 'endUser', 'key'], { model: null, endUser: null, key: null }).items;

    expect(item).toStrictEqual({ model: null, endUserEmail: null, keyId: null, ...shown });
  });

  test('without a dimension is a total alone', () => {
    expect(given([], {})).toMatchObject({ items: [], total: shown });
  });
});

describe('the first entry from an instant on', () => {
  const at = (second: number): string => new Date(Date.UTC(2026, 10, 1) + second * 1_000).toISOString();

  test('is the one that a walk along the ledger finds', async () => {
    const ledger = fc.array(fc.nat({ max: 3 }), { maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(ledger, fc.nat({ max: 200 }), async (pauses, wanted) => {
        memory.reset();
        ledgerEntries = 0;
        let second = 0;
        const seconds = pauses.map((pause) => {
          second += pause;
          return second;
        });
        put(...seconds.map((each) => ({ createdAt: at(each) })));
        const walked = seconds.findIndex((each) => each >= wanted);

        const found = await findFirstEntryFrom(ACCOUNT_ID, ledgerEntries, at(wanted));
        expect(found).toBe(walked < 0 ? ledgerEntries + 1 : walked + 1);
      }),
    );
  });

  test('is found among 10,000 by three calls', async () => {
    put(...Array.from({ length: 10_000 }, (_, index) => ({ createdAt: at(index) })));
    memory.client.resetHistory();

    expect(await findFirstEntryFrom(ACCOUNT_ID, ledgerEntries, at(7_654))).toBe(7_655);
    expect(memory.calls()).toEqual({ BatchGetCommand: 3 });
  });

  test('is not looked for across a gap, which the verification reports', async () => {
    ledgerEntries = 3;

    await expect(findFirstEntryFrom(ACCOUNT_ID, ledgerEntries, at(0))).rejects.toThrow(/gap/);
  });
});
