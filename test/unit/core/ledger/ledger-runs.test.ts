import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { LedgerRun, listLedgers, verifyLedgerBatch } from '../../../../core/ledger/ledger-runs.ts';
import { logger } from '../../../../core/observability.ts';
import { accountKey, ledgerEntryKey } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { aLedgerEntry, anAccount, putAccount } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const NOTHING = { accounts: 0, removed: 0, entries: 0, problems: 0 };
const given = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const accountId = `acc_${String(index).padStart(2, '0')}`;
    putAccount(memory, anAccount({ accountId, balanceThousandths: 1_000, ledgerEntries: 1 }));
    memory.put(ledgerEntryKey(accountId, 1), aLedgerEntry(1, { accountId }));
    return { accountId };
  });

const error = jest.spyOn(logger, 'error').mockReturnValue();
const info = jest.spyOn(logger, 'info').mockReturnValue();
beforeEach(() => {
  error.mockClear();
  info.mockClear();
});

describe('a page of a run', () => {
  test('has its accounts in batches of 25, and the next page follows it; the first counts no success yet', async () => {
    const ledgers = given(60);
    const counted = metricsCounted();
    memory.itemsPerQuery = 51;

    const first = await listLedgers(LedgerRun.parse({}));
    expect(first).toMatchObject({ listed: 51, found: NOTHING, next: 'verify' });
    expect(first.batches).toEqual(
      [ledgers.slice(0, 25), ledgers.slice(25, 50), ledgers.slice(50, 51)].map((batch) => ({
        ledgers: batch,
        found: NOTHING,
      })),
    );
    const second = await listLedgers(LedgerRun.parse({ ...first, verified: [] }));
    expect(second.batches).toEqual([{ ledgers: ledgers.slice(51), found: NOTHING }]);
    expect(second).toMatchObject({ listed: 60, position: null, next: 'verify' });
    expect(counted()).toEqual([['LedgerVerified', {}, 0]]);
    expect(info).not.toHaveBeenCalled();
  });

  test('of a service without accounts is the end, and counts as a success', async () => {
    const counted = metricsCounted();

    expect(await listLedgers(LedgerRun.parse({}))).toMatchObject({ batches: [], next: 'stop' });
    expect(counted()).toEqual([
      ['LedgerVerified', {}, 0],
      ['LedgerVerified', {}],
    ]);
  });
});

describe('the end of a run', () => {
  const found = { accounts: 20, removed: 3, entries: 100, problems: 0 };
  const verified = [
    { accounts: 30, removed: 2, entries: 5, problems: 0 },
    { accounts: 4, removed: 1, entries: 7, problems: 0 },
  ];
  const end = (run: Partial<LedgerRun> = {}) => {
    given(1);
    return listLedgers({ listed: 60, found, verified, position: null, ...run });
  };

  test('adds up what its pages found, counts the success, and lists no account again', async () => {
    const counted = metricsCounted();

    expect(await end()).toEqual({
      ...{ listed: 60, batches: [], position: null, next: 'stop' },
      found: { accounts: 54, removed: 6, entries: 112, problems: 0 },
    });
    expect(counted()).toEqual([['LedgerVerified', {}]]);
    expect(info).toHaveBeenCalledWith('ledgers verified', { accounts: 54, entries: 112, problems: 0 });
    expect(error).not.toHaveBeenCalled();
    expect(memory.calls()).toEqual({});
  });

  test.each<[string, Partial<LedgerRun>, number]>([
    ['a problem', { verified: [{ ...NOTHING, accounts: 37, problems: 1 }] }, 0],
    ['a problem of a former page', { found: { ...found, accounts: 54, problems: 2 } }, 0],
    ['an account that was not verified', { listed: 61 }, 1],
    ['an account that was not verified and a problem', { listed: 62, found: { ...found, problems: 1 } }, 2],
  ])('with %s counts no success', async (_, run, unverified) => {
    const counted = metricsCounted();
    await end(run);

    expect(counted()).toEqual([]);
    expect(error.mock.calls).toEqual(
      unverified > 0 ? [['ledgers could not be verified', { unverified }]] : [],
    );
  });
});

describe('a batch', () => {
  test('after ten minutes begins no further ledger, and hands back what is left', async () => {
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

  test('adds the accounts removed since, and each problem, which is logged and counted', async () => {
    const ledgers = [...given(3), { accountId: 'acc_removed' }];
    memory.patch(accountKey('acc_01'), { balanceThousandths: 7, ledgerEntries: 2 });
    const counted = metricsCounted();

    const found = { accounts: 10, removed: 1, entries: 20, problems: 3 };
    expect(await verifyLedgerBatch({ ledgers, found }, new StoppedClock())).toEqual({
      ...{ ledgers: [], next: 'stop' },
      found: { accounts: 13, removed: 2, entries: 23, problems: 5 },
    });
    expect(error.mock.calls.map(([, problem]) => problem)).toMatchObject([
      { accountId: 'acc_01', kind: 'entry_counter' },
      { accountId: 'acc_01', kind: 'balance' },
    ]);
    expect(counted()).toEqual([
      ['LedgerProblem', {}],
      ['LedgerProblem', {}],
    ]);
  });
});
