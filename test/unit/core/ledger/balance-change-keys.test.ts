import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { ConflictError, OutcomeUnknownError } from '../../../../core/errors.ts';
import { changeBalance, type OperatorChange } from '../../../../core/ledger/change-balance.ts';
import { accountKey, ledgerPartition } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { memory } from '../../fakes/fresh-table.ts';

const OTHER_ACCOUNT = 'acc_01JD4KXQ8M0000000000000009';

jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount());
});

const account = () => memory.get(accountKey(ACCOUNT_ID));
const stored = (prefix: string, accountId = ACCOUNT_ID) =>
  memory.partition(ledgerPartition(accountId)).filter(({ SK }) => String(SK).startsWith(prefix));
const entries = () => stored('ENTRY#');
const aKeyed = (overrides: Partial<OperatorChange> = {}): OperatorChange => ({
  amountThousandths: 5_000,
  reason: 'topup',
  reference: 'invoice 7',
  idempotencyKey: 'invoice-7',
  ...overrides,
});
const change = (overrides: Partial<OperatorChange> = {}, now = NOW) =>
  changeBalance(ACCOUNT_ID, aKeyed(overrides), now);

describe('a change of a balance under an idempotency key', () => {
  test('given again answers the first entry and changes nothing, however much later', async () => {
    const first = await change();
    await change({ idempotencyKey: 'invoice-8' });

    const again = await change({ reference: 'another note' }, atSeconds(400 * 86_400));

    expect(again).toStrictEqual(first);
    expect(account()).toMatchObject({ balanceThousandths: 110_000, ledgerEntries: 5 });
    expect(entries()).toHaveLength(2);
  });

  test.each<[string, Partial<OperatorChange>]>([
    ['another amount', { amountThousandths: 5_001 }],
    ['the opposite amount', { amountThousandths: -5_000, reason: 'admin_adjustment' }],
    ['another kind of change', { reason: 'admin_adjustment' }],
  ])('given again with %s is refused', async (_, overrides) => {
    const { id } = await change();

    await expect(change(overrides)).rejects.toThrow(ConflictError);
    await expect(change(overrides)).rejects.toThrow(
      `This idempotency key was used for another change: entry ${id}.`,
    );
    expect(account()).toMatchObject({ balanceThousandths: 105_000, ledgerEntries: 4 });
  });

  test('given again answers the first entry even when its amount could not be deducted any more', async () => {
    const deduction = { amountThousandths: -60_000, reason: 'admin_adjustment' } as const;
    const first = await change(deduction);

    expect(await change(deduction)).toStrictEqual(first);
    expect(account()).toMatchObject({ balanceThousandths: 40_000 });
    await expect(change({ ...deduction, idempotencyKey: 'another' })).rejects.toThrow(/cannot go below 0/);
  });

  test('is another one in another account', async () => {
    memory.put(accountKey(OTHER_ACCOUNT), anAccount({ accountId: OTHER_ACCOUNT }));
    await change();

    await changeBalance(OTHER_ACCOUNT, aKeyed(), NOW);

    expect(memory.get(accountKey(OTHER_ACCOUNT))).toMatchObject({ balanceThousandths: 105_000 });
    expect(stored('ENTRY#', OTHER_ACCOUNT)).toHaveLength(1);
  });

  test('is kept for ever as a digest, in the transaction of the change', async () => {
    await change();

    expect(stored('CHANGE#')).toEqual([
      {
        PK: ledgerPartition(ACCOUNT_ID),
        SK: expect.stringMatching(/^CHANGE#[0-9a-f]{64}$/),
        accountId: ACCOUNT_ID,
        entryNumber: 4,
      },
    ]);
    expect(memory.transactions).toHaveLength(1);
  });

  test('may be repeated when its outcome is unknown, and says so', async () => {
    memory.beforeTransaction = () => {
      throw tableError('TimeoutError');
    };

    await expect(change()).rejects.toThrow(OutcomeUnknownError);
    await expect(change()).rejects.toThrow(/Repeat it with the same idempotency key: it is made once\.$/);
  });

  test('is made once, however many give it at once and whichever answers are lost', async () => {
    const runs = fc.record({
      amounts: fc.array(fc.constantFrom(5_000, -60_000), { minLength: 1, maxLength: 6 }),
      keys: fc.array(fc.constantFrom('a', 'b', undefined), { minLength: 6, maxLength: 6 }),
      lost: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(runs, async ({ amounts, keys, lost }) => {
        memory.reset();
        memory.put(accountKey(ACCOUNT_ID), anAccount({ ledgerEntries: 0 }));
        memory.afterTransaction = (attempt) => {
          if (lost[attempt % lost.length]) throw tableError('TimeoutError');
        };

        const results = await Promise.allSettled(
          amounts.map((amountThousandths, index) =>
            changeBalance(
              ACCOUNT_ID,
              { amountThousandths, reason: 'topup', reference: '', idempotencyKey: keys[index] },
              NOW,
            ),
          ),
        );

        // An entry for each change without a key, and a single entry for changes that share a key.
        const made = new Map<unknown, string>();
        for (const [index, result] of results.entries()) {
          if (result.status === 'rejected') {
            expect(result.reason).toBeInstanceOf(ConflictError);
            continue;
          }
          const of = keys[index] ?? index;
          expect(made.get(of) ?? result.value.id).toBe(result.value.id);
          made.set(of, result.value.id);
        }
        expect(entries().map(({ id }) => id)).toEqual(expect.arrayContaining([...made.values()]));
        expect(entries()).toHaveLength(made.size);
        expect(account()).toMatchObject({ ledgerEntries: made.size });
      }),
      { numRuns: 100 },
    );
  });
});
