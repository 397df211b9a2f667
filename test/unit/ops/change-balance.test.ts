import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { accountKey } from '../../../core/table/keys.ts';
import { ACCOUNT_ID, anAccount } from '../builders/entities.ts';
import { tableError } from '../builders/table-errors.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

// How a change meets others, and lost answers: test/unit/core/ledger.
const { ops } = describeLocalRun();
beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 0, ledgerEntries: 0 }));
});

const topUp = (...options: string[]) =>
  ops('balance', 'topup', '--account', ACCOUNT_ID, '--amount', '5', '--json', ...options);

describe('a change of the balance', () => {
  test('whose outcome is unknown exits with 1 and one line that says how to repeat it', async () => {
    memory.client.on(TransactWriteCommand).rejects(tableError('TimeoutError'));

    expect(await topUp('--idempotency-key', 'invoice 7')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^No answer came, .* Repeat it with the same idempotency key: .*\n$/),
    });
  });

  test.each([
    ['', 2, /1 to 255 characters/],
    ['x'.repeat(256), 2, /1 to 255 characters/],
    ['--note', 2, /value is missing/],
    ['x'.repeat(255), 0, /^$/],
    ['ключ 😀', 0, /^$/],
  ])('under the idempotency key %j exits with %p', async (key, expected, message) => {
    const { status, stderr } = await topUp('--idempotency-key', key);

    expect([status, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });
});
