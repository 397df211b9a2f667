import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listEntriesOfRequest, readLedgerEntries } from '../../../../core/ledger/ledger-entries.ts';
import { ledgerEntryKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { ACCOUNT_ID, aLedgerEntry, REQUEST_ID } from '../../builders/entities.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

/** Puts entries made at these seconds; those at the places given are about the request. */
const given = (seconds: readonly number[], about: readonly number[] = []): void => {
  for (const [index, second] of seconds.entries()) {
    const number = index + 1;
    const reference = about.includes(index) ? REQUEST_ID : `img_${number}`;
    const entry = aLedgerEntry(number, { createdAt: atSeconds(second).toISOString(), reference });
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), entry);
  }
};
const numbersFrom = async (first: number, last?: number): Promise<number[]> => {
  const numbers: number[] = [];
  for await (const { number } of readLedgerEntries(ACCOUNT_ID, first, last)) numbers.push(number);
  return numbers;
};
const entriesAbout = async (ledgerEntries: number, created: number, finished?: number): Promise<number[]> => {
  const createdAt = atSeconds(created).toISOString();
  const request = {
    requestId: REQUEST_ID,
    createdAt,
    ...(finished === undefined ? {} : { finishedAt: atSeconds(finished).toISOString() }),
  };
  const entries = await listEntriesOfRequest({ accountId: ACCOUNT_ID, ledgerEntries }, request);
  return entries.map(({ number }) => number);
};

describe('the entries of a ledger', () => {
  test('are read by number, oldest first, over any number of pages', async () => {
    given([0, 1, 2, 3, 4]);
    memory.itemsPerQuery = 2;

    expect(await numbersFrom(1)).toEqual([1, 2, 3, 4, 5]);
    expect(await numbersFrom(2, 4)).toEqual([2, 3, 4]);
    expect(await numbersFrom(6)).toEqual([]);
  });

  test('cost no call when there is nothing to read', async () => {
    expect(await numbersFrom(6, 5)).toEqual([]);
    expect(memory.calls()).toEqual({});
  });
});

describe('the entries about a request', () => {
  test('are found wherever they are, in any ledger whose order and times disagree by less than a minute', async () => {
    const aLedger = fc
      .array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 60 })
      .chain((gaps) =>
        fc.tuple(fc.constant(gaps), fc.array(fc.integer({ min: -29, max: 29 }), { minLength: 1 })),
      )
      .map(([gaps, skews]) => {
        let time = 0;
        return gaps.map((gap, index) => {
          time += gap;
          return time + (skews[index % skews.length] ?? 0);
        });
      });
    await fc.assert(
      fc.asyncProperty(aLedger, fc.nat(), fc.nat(), async (seconds, first, second) => {
        memory.reset();
        const [debit = 0, refund = 0] = [first % seconds.length, second % seconds.length].sort(
          (a, b) => a - b,
        );
        given(seconds, [debit, refund]);

        const found = await entriesAbout(seconds.length, seconds[debit] ?? 0, seconds[refund]);

        expect(found).toEqual([...new Set([debit + 1, refund + 1])]);
      }),
    );
  });

  test('are none but the debit while it is not over', async () => {
    given([0, 10, 20], [1]);

    expect(await entriesAbout(3, 10)).toEqual([2]);
  });

  test('cost about as many reads as the length of the ledger has bits', async () => {
    given(
      Array.from({ length: 1000 }, (_, index) => index * 100),
      [700],
    );

    expect(await entriesAbout(1000, 70_000)).toEqual([701]);
    expect(memory.calls().GetCommand).toBeLessThanOrEqual(10);
    expect(memory.calls().QueryCommand).toBe(1);
  });

  test.each([3, 5])('are found beside one that is missing: number %p', async (number) => {
    given([0, 100, 200, 300, 400, 500, 600], [number - 1]);
    memory.remove(ledgerEntryKey(ACCOUNT_ID, 4));

    expect(await entriesAbout(7, (number - 1) * 100)).toEqual([number]);
  });
});
