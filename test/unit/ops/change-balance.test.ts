import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import type { Account } from '../../../core/accounts/accounts.ts';
import { accountKey, ledgerEntryKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { ACCOUNT_ID, aLedgerEntry, anAccount } from '../builders/entities.ts';
import { runCommand } from './run-command.ts';

const dynamoDb = mockClient(table);
const shell = { ...process.env };
let dataDirectory: string;

/** An account with a balance of 0 unless given another. */
const account = (balance: Partial<Account> = {}): Account =>
  anAccount({ balanceThousandths: 0, ledgerEntries: 0, ...balance });

const refusedOverAccount = (found: Account) =>
  new TransactionCanceledException({
    message: 'refused',
    $metadata: {},
    CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: marshall(found) }, { Code: 'None' }],
  });

const keyUsed = () =>
  new TransactionCanceledException({
    message: 'refused',
    $metadata: {},
    CancellationReasons: [{ Code: 'None' }, { Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
  });

/** The entries of each attempt, in order. */
const attemptedEntries = (): Record<string, unknown>[] =>
  dynamoDb
    .commandCalls(TransactWriteCommand)
    .map(
      ({ args: [command] }) =>
        (command.input as TransactWriteCommandInput).TransactItems?.[1]?.Put?.Item ?? {},
    );

const topUp = (...options: string[]) =>
  runCommand(
    'balance',
    'topup',
    '--account',
    ACCOUNT_ID,
    '--amount',
    '5',
    '--data-dir',
    dataDirectory,
    '--json',
    ...options,
  );

beforeEach(() => {
  dynamoDb.reset();
  dataDirectory = mkdtempSync(join(tmpdir(), 'ops-unit-'));
  writeFileSync(
    join(dataDirectory, 'local.json'),
    JSON.stringify({
      pid: process.pid,
      awsEndpointUrl: 'http://127.0.0.1:1',
      tableName: 'the-table',
      operatorAccessKeyId: 'key',
      operatorSecretAccessKey: 'secret',
    }),
  );
  dynamoDb.on(GetCommand, { Key: accountKey(ACCOUNT_ID) }).resolves({ Item: account() });
});
afterEach(() => {
  rmSync(dataDirectory, { recursive: true });
  process.env = { ...shell };
});

describe('a change of the balance', () => {
  test('retries with the balance that a conflicting change left', async () => {
    const found = account({ balanceThousandths: 2_000, ledgerEntries: 1 });
    dynamoDb
      .on(GetCommand, { Key: ledgerEntryKey(ACCOUNT_ID, 1) })
      .resolves({ Item: aLedgerEntry(1, { id: 'led_of_another' }) });
    dynamoDb.on(TransactWriteCommand).rejectsOnce(refusedOverAccount(found)).resolves({});

    const { status, stdout } = await topUp();

    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ amount: 5, balanceAfter: 7 });
    expect(attemptedEntries().map(({ number }) => number)).toEqual([1, 2]);
  });

  test('is not repeated when it was committed but the response was lost', async () => {
    const committed = account({ balanceThousandths: 5_000, ledgerEntries: 1 });
    dynamoDb
      .on(GetCommand, { Key: ledgerEntryKey(ACCOUNT_ID, 1) })
      .callsFake(() => ({ Item: attemptedEntries()[0] }));
    dynamoDb.on(TransactWriteCommand).rejects(refusedOverAccount(committed));

    const { status, stdout } = await topUp();

    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: attemptedEntries()[0]?.id, balanceAfter: 5 });
    expect(attemptedEntries()).toHaveLength(1);
  });

  test('under an idempotency key is written with it, and one that was used answers its entry', async () => {
    const entry = aLedgerEntry(1, { amountThousandths: 5_000, balanceAfterThousandths: 5_000 });
    dynamoDb.on(TransactWriteCommand).resolvesOnce({}).rejects(keyUsed());
    expect((await topUp('--idempotency-key', 'invoice 7')).status).toBe(0);
    const [keyed] = dynamoDb.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input);
    const Key = {
      PK: keyed?.TransactItems?.[2]?.Put?.Item?.PK,
      SK: keyed?.TransactItems?.[2]?.Put?.Item?.SK,
    };
    dynamoDb.on(GetCommand, { Key }).resolves({ Item: { accountId: ACCOUNT_ID, entryNumber: 1 } });
    dynamoDb.on(GetCommand, { Key: ledgerEntryKey(ACCOUNT_ID, 1) }).resolves({ Item: entry });

    const { status, stdout } = await topUp('--idempotency-key', 'invoice 7');

    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: entry.id, amount: 5, balanceAfter: 5 });
  });

  test('whose outcome is unknown exits with 1 and one line that says how to repeat it', async () => {
    dynamoDb.on(TransactWriteCommand).rejects(Object.assign(new Error('socket'), { name: 'TimeoutError' }));

    const outcome = await topUp('--idempotency-key', 'invoice 7');

    expect(outcome).toEqual({
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
    dynamoDb.on(TransactWriteCommand).resolves({});

    const { status, stderr } = await topUp('--idempotency-key', key);

    expect([status, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });
});
