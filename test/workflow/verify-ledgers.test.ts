import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  LedgerBatch,
  LedgerRun,
  listLedgers,
  type VerifiedBatch,
  verifyLedgerBatch,
} from '../../core/ledger/ledger-runs.ts';
import { logger } from '../../core/observability.ts';
import { accountKey, accountListing, ledgerEntryKey } from '../../core/table/keys.ts';
import { aLedgerEntry, anAccount, putAccount } from '../unit/builders/entities.ts';
import { memory } from '../unit/fakes/fresh-table.ts';
import { metricsCounted } from '../unit/fakes/metrics.ts';
import { definitionText } from './asl.ts';
import { type Behaviour, type Execution, fails, runWorkflow, type Script } from './harness.ts';

const error = jest.spyOn(logger, 'error');
const info = jest.spyOn(logger, 'info');
beforeEach(() => {
  error.mockClear();
  info.mockClear();
});

const list: Behaviour = (payload) => listLedgers(LedgerRun.parse((payload as { run: unknown }).run));
const verify: Behaviour = (payload) => verifyLedgerBatch(LedgerBatch.parse(payload));
const service: Script = { 'list-ledgers': list, 'verify-ledgers': verify };
const run = (script: Script = service, input: object = {}): Promise<Execution> =>
  runWorkflow(definitionText('verify-ledgers.asl.json'), input as never, script);

/** Puts this many accounts with an entry each. */
const given = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const accountId = `acc_${String(index).padStart(4, '0')}`;
    putAccount(memory, anAccount({ accountId, balanceThousandths: 1_000, ledgerEntries: 1 }));
    memory.put(ledgerEntryKey(accountId, 1), aLedgerEntry(1, { accountId }));
    return accountId;
  });
const payloadsOf = ({ invocations }: Execution, name: string) =>
  invocations.filter(({ functionName }) => functionName === name).map(({ payload }) => payload as never);
const COUNTED = [
  ['LedgerVerified', {}, 0],
  ['LedgerVerified', {}],
];

describe('a run of the verification', () => {
  test('lists all accounts, verifies them in batches, and reports what it found', async () => {
    given(60);
    const counted = metricsCounted();

    const execution = await run();

    expect(execution.status).toBe('SUCCEEDED');
    const batches = payloadsOf(execution, 'verify-ledgers') as LedgerBatch[];
    expect(batches.map(({ ledgers }) => ledgers.length)).toEqual([25, 25, 10]);
    expect(counted()).toEqual(COUNTED);
    expect(info).toHaveBeenLastCalledWith('ledgers verified', { accounts: 60, entries: 60, problems: 0 });
  });

  test('of a service without accounts ends at once, and counts', async () => {
    const counted = metricsCounted();

    const { path } = await run();

    expect(path).toEqual(['List ledgers', 'Are more ledgers left?', 'Verified']);
    expect(counted()).toEqual(COUNTED);
  });

  test('goes on page by page', async () => {
    given(1_001);
    const count: Behaviour = (payload) => {
      const { ledgers, ...batch } = LedgerBatch.parse(payload);
      const found = { accounts: ledgers.length, removed: 0, entries: 2 * ledgers.length, problems: 0 };
      return { ...batch, ledgers: [], found, next: 'stop' };
    };

    const execution = await run({ ...service, 'verify-ledgers': count });

    expect(payloadsOf(execution, 'list-ledgers')).toHaveLength(3);
    expect(info).toHaveBeenLastCalledWith('ledgers verified', {
      accounts: 1_001,
      entries: 2_002,
      problems: 0,
    });
  });

  test('logs and counts each problem, does not fail, and is not counted as one without', async () => {
    const [first = ''] = given(3);
    memory.patch(accountKey(first), { balanceThousandths: 1, ledgerEntries: 7 });
    const counted = metricsCounted();

    expect((await run()).status).toBe('SUCCEEDED');

    expect(counted()).toEqual([
      ['LedgerVerified', {}, 0],
      ['LedgerProblem', {}],
      ['LedgerProblem', {}],
    ]);
    expect(error.mock.calls).toEqual([
      ['a ledger does not add up', expect.objectContaining({ accountId: first, kind: 'entry_counter' })],
      ['a ledger does not add up', expect.objectContaining({ accountId: first, kind: 'balance' })],
    ]);
    expect(info).toHaveBeenLastCalledWith('ledgers verified', { accounts: 3, entries: 3, problems: 2 });
  });

  test('counts although an account was removed since it was listed', async () => {
    const [first = ''] = given(2);
    const counted = metricsCounted();

    await run({
      ...service,
      'verify-ledgers': (payload) => {
        memory.remove(accountKey(first));
        return verify(payload);
      },
    });

    expect(counted()).toEqual(COUNTED);
    expect(info).toHaveBeenLastCalledWith('ledgers verified', { accounts: 1, entries: 1, problems: 0 });
  });
});

describe('a batch', () => {
  test('that is not done in time is continued where it was left, until nothing is left', async () => {
    given(1);
    const left = [{ accountId: 'acc_0000', after: 9 }];
    const found = { accounts: 0, removed: 0, entries: 9, problems: 1 };
    const part = (next: VerifiedBatch['next'], more: object): Behaviour => {
      return () => ({ ledgers: left, found, next, ...more });
    };
    const done = part('stop', { ledgers: [], found: { ...found, accounts: 1, entries: 12 } });

    const execution = await run({ 'list-ledgers': list, 'verify-ledgers': [part('verify', {}), done] });

    expect(payloadsOf(execution, 'verify-ledgers')[1]).toEqual({
      ledgers: left,
      found,
      knownSteps: expect.any(Array),
    });
    expect(info).toHaveBeenLastCalledWith('ledgers verified', { accounts: 1, entries: 12, problems: 1 });
  });

  test('is verified again after a transient error', async () => {
    given(1);
    const counted = metricsCounted();

    const execution = await run({ ...service, 'verify-ledgers': [fails('TransientError'), verify] });

    expect(execution.retries.map(({ state }) => state)).toEqual(['Verify ledgers']);
    expect(counted()).toEqual(COUNTED);
  });

  test('that fails is left: the others are verified, and the run is not counted', async () => {
    given(50);
    const counted = metricsCounted();

    const execution = await run({ ...service, 'verify-ledgers': [fails('TypeError'), verify] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(counted()).toEqual([['LedgerVerified', {}, 0]]);
    expect(error).toHaveBeenLastCalledWith('ledgers could not be verified', { unverified: 25 });
    expect(info).toHaveBeenLastCalledWith('ledgers verified', { accounts: 25, entries: 25, problems: 0 });
  });
});

test('A run whose accounts cannot be listed fails', async () => {
  expect(await run({ ...service, 'list-ledgers': fails('TypeError') })).toMatchObject({
    status: 'FAILED',
    failure: { Error: 'TypeError' },
  });
});

test('A page of accounts with the longest ids, and what its batches found, fit into a state', async () => {
  for (let index = 0; index < 1_000; index++) {
    const accountId = `acc_${String(index).padStart(26, '0')}`;
    memory.put(accountKey(accountId), accountListing(accountId, '2026-11-22T00:00:00.000Z'));
  }
  const page = await listLedgers(LedgerRun.parse({}));
  const huge = { accounts: 25, removed: 25, entries: 1e15, problems: 1e9 };
  const state = { ...page, verified: page.batches.map(() => huge) };

  expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(262_144 / 2);
});
