import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listLedgerEntries, renderLedgerEntry } from '../../../../core/ledger/ledger.ts';
import { findLedgerEntries, readLedgerEntries } from '../../../../core/ledger/ledger-entries.ts';
import { ledgerEntryKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { ACCOUNT_ID, aLedgerEntry } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const fill = (count: number): void => {
  for (let number = 1; number <= count; number++)
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number));
};

describe('a page of the ledger', () => {
  const list = (page: number, pageSize: number, count: number) =>
    listLedgerEntries(ACCOUNT_ID, { page, pageSize }, count);
  const queries = () => memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);

  test('is a key range: the end of the ledger first, earlier entries on later pages', async () => {
    fill(10);
    await list(1, 3, 10);
    await list(3, 3, 10);

    // How many entries each reads: no more than its page.
    expect(queries().map(({ Limit, ConsistentRead }) => [Limit, ConsistentRead])).toEqual([
      [3, true],
      [3, true],
    ]);
  });

  test('past the end holds nothing and reads nothing', async () => {
    expect(await list(3, 20, 40)).toEqual({ items: [], page: 3, pageSize: 20, hasMore: false });
    expect(queries()).toEqual([]);
  });

  test('shows a reason of another version as an adjustment, and leaves out an entry that cannot be read', async () => {
    fill(4);
    memory.put(ledgerEntryKey(ACCOUNT_ID, 3), { ...aLedgerEntry(3), reason: 'gift' });
    memory.put(ledgerEntryKey(ACCOUNT_ID, 2), { ...aLedgerEntry(2), type: 'transfer' });

    const { items, hasMore } = await list(1, 3, 4);

    expect(items.map(({ number }) => number)).toEqual([4, 3]);
    expect(items[1]).toMatchObject({ ...aLedgerEntry(3), reason: 'admin_adjustment' });
    expect(hasMore).toBe(true);
    expect((await list(2, 3, 4)).items.map(({ number }) => number)).toEqual([1]);
  });

  test('holds its entries, newest first, and says exactly whether more follow', async () => {
    const pages = fc.record({
      count: fc.integer({ min: 0, max: 30 }),
      page: fc.integer({ min: 1, max: 8 }),
      pageSize: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(pages, async ({ count, page, pageSize }) => {
        memory.reset();
        fill(count);
        const numbers = Array.from({ length: count }, (_, index) => count - index);

        const listed = await list(page, pageSize, count);

        expect(listed.items.map(({ number }) => number)).toEqual(
          numbers.slice((page - 1) * pageSize, page * pageSize),
        );
        expect(listed.hasMore).toBe(page * pageSize < count);
      }),
    );
  });
});

test('an entry is shown in decimals, without the number it is stored by', () => {
  const shown = { id: 'led_4', type: 'debit', reason: 'generation', reference: 'img_1' } as const;
  const createdAt = atSeconds(1).toISOString();
  const amounts = { amountThousandths: 1_005, balanceAfterThousandths: 98_995 };

  expect(renderLedgerEntry(aLedgerEntry(4, { ...shown, createdAt, ...amounts }))).toStrictEqual({
    ...{ ...shown, createdAt, amount: 1.005, balanceAfter: 98.995 },
  });
});

const numbersFrom = async (first: number, last: number): Promise<number[]> => {
  const numbers: number[] = [];
  for await (const { number } of readLedgerEntries(ACCOUNT_ID, first, last)) numbers.push(number);
  return numbers;
};

describe('the entries of a ledger', () => {
  test('are read by number, oldest first, over any number of pages', async () => {
    fill(5);
    memory.itemsPerQuery = 2;

    expect(await numbersFrom(1, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(await numbersFrom(2, 4)).toEqual([2, 3, 4]);
    expect(await numbersFrom(6, 9)).toEqual([]);
  });

  test('cost no call when there is nothing to read', async () => {
    expect(await numbersFrom(6, 5)).toEqual([]);
    expect(memory.calls()).toEqual({});
  });

  test('are found by their numbers, as far as they are there', async () => {
    fill(3);

    expect((await findLedgerEntries(ACCOUNT_ID, [3, 4, 1])).map(({ number }) => number)).toEqual([3, 1]);
  });
});
