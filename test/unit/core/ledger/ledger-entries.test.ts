import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import {
  findLedgerEntries,
  listEntriesOfRequest,
  readLedgerEntries,
} from '../../../../core/ledger/ledger-entries.ts';
import { ledgerEntryKey } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, aLedgerEntry, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** Puts entries, of which these are about the request. */
const given = (count: number, ...about: number[]): void => {
  for (let number = 1; number <= count; number++) {
    const reference = about.includes(number) ? REQUEST_ID : `img_${number}`;
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number, { reference }));
  }
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

describe('the entries about a request', () => {
  const numbersOf = async (...names: Parameters<typeof anImageRequest>) => {
    const entries = await listEntriesOfRequest(anImageRequest(...names), 500);
    return entries.map(({ number }) => number);
  };

  test('are read by the numbers that it names', async () => {
    given(500, 7, 300);

    expect(await numbersOf({ debitEntryNumber: 7 })).toEqual([7]);
    const refunded = { refundThousandths: 4_000, refundEntryNumber: 300 };
    expect(await numbersOf({ debitEntryNumber: 7, ...refunded })).toEqual([7, 300]);
    expect(memory.calls()).toEqual({ BatchGetCommand: 2 });
  });

  test.each([
    ['names none', {}],
    ['names its refund alone', { refundThousandths: 4_000, refundEntryNumber: 300 }],
    ['names its debit alone, and was refunded', { debitEntryNumber: 7, refundThousandths: 4_000 }],
  ])('are sought in the whole ledger for one that %s', async (_, names) => {
    given(500, 7, 300);

    expect(await numbersOf(names)).toEqual([7, 300]);
  });
});
