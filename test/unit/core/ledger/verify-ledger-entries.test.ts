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

/** Puts entries made at these seconds; those at the places given are the debit and the refund of the request. */
const given = (seconds: readonly number[], debit?: number, refund?: number): void => {
  for (const [index, second] of seconds.entries()) {
    const number = index + 1;
    const createdAt = atSeconds(second).toISOString();
    const reference = index === debit || index === refund ? REQUEST_ID : `img_${number}`;
    const reason = index === refund ? 'refund' : 'generation';
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number, { createdAt, reference, reason }));
  }
};
const numbersFrom = async (first: number, last?: number): Promise<number[]> => {
  const numbers: number[] = [];
  for await (const { number } of readLedgerEntries(ACCOUNT_ID, first, last)) numbers.push(number);
  return numbers;
};
/** The numbers of the entries about the request; `refunded` is when it ended with a refund. */
const entriesAbout = async (ledgerEntries: number, created: number, refunded?: number): Promise<number[]> => {
  const request = {
    requestId: REQUEST_ID,
    createdAt: atSeconds(created).toISOString(),
    ...(refunded === undefined
      ? {}
      : { finishedAt: atSeconds(refunded).toISOString(), refundThousandths: 1_000 }),
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
  test('are found wherever they are, however much later than its creation and its end', async () => {
    const aLedger = fc
      .array(fc.nat({ max: 400 }), { minLength: 2, maxLength: 60 })
      .map((gaps) => gaps.map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0)));
    const delay = fc.nat({ max: 900 });
    await fc.assert(
      fc.asyncProperty(
        aLedger,
        fc.nat(),
        fc.nat(),
        delay,
        delay,
        async (seconds, first, second, ...delays) => {
          memory.reset();
          const refund = 1 + (first % (seconds.length - 1));
          const debit = second % refund;
          given(seconds, debit, refund);
          const [created = 0, finished = 0] = [debit, refund].map(
            (place, index) => (seconds[place] ?? 0) - (delays[index] ?? 0),
          );

          expect(await entriesAbout(seconds.length, created, finished)).toEqual([debit + 1, refund + 1]);
        },
      ),
    );
  });

  test('are none but the debit without a refund', async () => {
    given([0, 10, 20], 1);

    expect(await entriesAbout(3, 10)).toEqual([2]);
  });

  test('are none when it has none', async () => {
    given([0, 10, 20]);

    expect(await entriesAbout(3, 10, 20)).toEqual([]);
  });

  test('cost about as many reads as the length of the ledger has bits', async () => {
    given(
      Array.from({ length: 1000 }, (_, index) => index * 100),
      700,
    );

    expect(await entriesAbout(1000, 70_000)).toEqual([701]);
    expect(memory.calls().GetCommand).toBeLessThanOrEqual(10);
    expect(memory.calls().QueryCommand).toBe(1);
  });

  test.each([3, 5])('are found beside one that is missing: number %p', async (number) => {
    given([0, 100, 200, 300, 400, 500, 600], number - 1);
    memory.remove(ledgerEntryKey(ACCOUNT_ID, 4));

    expect(await entriesAbout(7, (number - 1) * 100)).toEqual([number]);
  });
});
