import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import { findLedgerEntries, readLedgerEntries } from '../../../../core/ledger/ledger-entries.ts';
import { ledgerEntryKey } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, aLedgerEntry } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const given = (count: number): void => {
  for (let number = 1; number <= count; number++)
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number));
};
const numbersFrom = async (first: number, last: number): Promise<number[]> => {
  const numbers: number[] = [];
  for await (const { number } of readLedgerEntries(ACCOUNT_ID, first, last)) numbers.push(number);
  return numbers;
};

describe('the entries of a ledger', () => {
  test('are read by number, oldest first, over any number of pages', async () => {
    given(5);
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
    given(3);

    expect((await findLedgerEntries(ACCOUNT_ID, [3, 4, 1])).map(({ number }) => number)).toEqual([3, 1]);
  });
});
