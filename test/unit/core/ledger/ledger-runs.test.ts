import { expect, test } from '@jest/globals';
import { verifyLedgerBatch } from '../../../../core/ledger/ledger-runs.ts';
import { accountKey, ledgerEntryKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { aLedgerEntry, anAccount } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const NOTHING = { accounts: 0, removed: 0, entries: 0, problems: 0 };
const given = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const accountId = `acc_${index}`;
    memory.put(accountKey(accountId), anAccount({ accountId, balanceThousandths: 1_000, ledgerEntries: 1 }));
    memory.put(ledgerEntryKey(accountId, 1), aLedgerEntry(1, { accountId }));
    return { accountId };
  });

test('After ten minutes a batch begins no further ledger, and hands back what is left', async () => {
  const ledgers = given(9);
  // A minute passes with each account that is read.
  let minutes = 0;
  memory.beforeCall = () => {
    minutes += 0.5;
  };
  const clock = { now: () => atSeconds(minutes * 60) };

  const { ledgers: left, found, next } = await verifyLedgerBatch({ ledgers, found: NOTHING }, clock);

  expect(next).toBe('verify');
  expect(left.length).toBeGreaterThan(0);
  expect(found).toEqual({ ...NOTHING, accounts: 9 - left.length, entries: 9 - left.length });
  minutes = 0;
  memory.beforeCall = () => undefined;
  expect(await verifyLedgerBatch({ ledgers: left, found }, clock)).toEqual({
    ...{ ledgers: [], next: 'stop' },
    found: { ...NOTHING, accounts: 9, entries: 9 },
  });
});
