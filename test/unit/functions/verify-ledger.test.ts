import '../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../core/observability.ts';
import { accountKey, accountListing, ledgerEntryKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { handler } from '../../../functions/events/verify-ledger.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { ACCOUNT_ID, aLedgerEntry, anAccount } from '../builders/entities.ts';
import { MemoryTable } from '../fakes/memory-table.ts';
import { metricsCounted } from '../fakes/metrics.ts';

const memory = new MemoryTable(table);
const error = jest.spyOn(logger, 'error');
beforeEach(() => {
  error.mockClear();
  memory.reset();
  for (const accountId of [ACCOUNT_ID, 'acc_2']) {
    const account = anAccount({ accountId, balanceThousandths: 2_000, ledgerEntries: 2 });
    memory.put(accountKey(accountId), { ...accountListing(accountId, account.createdAt), ...account });
    for (const number of [1, 2])
      memory.put(ledgerEntryKey(accountId, number), aLedgerEntry(number, { accountId }));
  }
});

describe('the daily verification', () => {
  test('counts a run without problems, and logs no error', async () => {
    const counted = metricsCounted();

    await handler({}, aLambdaContext());

    expect(counted()).toEqual([
      ['LedgerVerified', {}, 0],
      ['LedgerVerified', {}],
    ]);
    expect(error).not.toHaveBeenCalled();
  });

  test('logs and counts each problem, and does not fail', async () => {
    const counted = metricsCounted();
    memory.patch(accountKey('acc_2'), { balanceThousandths: 1, ledgerEntries: 1 });

    await handler({}, aLambdaContext());

    expect(counted()).toEqual([
      ['LedgerVerified', {}, 0],
      ['LedgerProblem', {}],
      ['LedgerProblem', {}],
    ]);
    expect(error.mock.calls).toEqual([
      ['a ledger does not add up', expect.objectContaining({ accountId: 'acc_2', kind: 'entry_counter' })],
      ['a ledger does not add up', expect.objectContaining({ accountId: 'acc_2', kind: 'balance' })],
    ]);
  });
});
