import '../unit/builders/environment.ts';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  ListTagsOfResourceCommand,
} from '@aws-sdk/client-dynamodb';
import { StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findAccount, getAccount } from '../../core/accounts/accounts.ts';
import { listApiKeys } from '../../core/accounts/api-keys.ts';
import { listAuditEntries } from '../../core/audit/audit.ts';
import { getEndUser } from '../../core/end-users/end-users.ts';
import { reconcileRequest } from '../../core/ending/end-lost-request.ts';
import { findDeletedRequest } from '../../core/requests/deleted-requests.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { accountKey } from '../../core/table/keys.ts';
import { table } from '../../core/table/table.ts';
import { onTable } from '../../ops/restore/on-table.ts';
import { BOB, CAROL, DAVE, dynamoDb, type Report, restoreAndGoOn, service, sfn } from './a-restored-table.ts';
import { TABLE_NAME } from './a-service.ts';

const { accountId, keyId, ids, first, lost } = await restoreAndGoOn();

const instantIn = ({ table }: Report): string =>
  table.replace(/^.*-at-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');

const restore = (...args: string[]) => service.ops('table', 'restore', '--at', instantIn(first), ...args);

describe('table restore', () => {
  test('restores beside the living table, and finds nothing lost at first', () => {
    expect(first).toMatchObject({
      table: expect.stringMatching(/^the-table-at-\d{8}T\d{6}Z$/),
      living: TABLE_NAME,
      ledger: { accounts: 1, entries: 7, problems: [] },
      lost: { accounts: [], keys: [], operatorChanges: [] },
      comeBack: { accounts: [], requests: 0 },
      open: { requests: 3, xTokens: 12, unfinishedStill: 3 },
      removals: { requests: [], endUsers: [], keys: [] },
      adopted: false,
    });
    expect(first.entities.every(({ added, gone, changed }) => added + gone + changed === 0)).toBe(true);
    expect(first.newest.restored).toEqual(first.newest.living);
  });

  test('given again for the instant, compares the same restored table, and says what would be lost', async () => {
    const report = await service.json<Report>('table', 'restore', '--at', instantIn(first));

    expect(report).toMatchObject({
      table: first.table,
      restoredTo: first.restoredTo,
      balances: expect.arrayContaining([
        { accountId, restored: 976, living: 1022 },
        { accountId: lost.accountId, restored: null, living: 0 },
      ]),
      lost: {
        accounts: [lost.accountId],
        keys: [{ keyId: lost.keyId, accountId }],
        operatorChanges: [
          expect.objectContaining({ id: lost.entryId, accountId, amount: 50, reference: 'invoice 7' }),
        ],
      },
      comeBack: { accounts: [], requests: 1 },
      open: {
        requests: 3,
        xTokens: 12,
        succeededSince: 1,
        failedSince: 0,
        deletedSince: 1,
        unfinishedStill: 1,
      },
      removals: {
        requests: expect.arrayContaining([
          { accountId, requestId: ids.deleted },
          { accountId, requestId: ids.bobs },
        ]),
        endUsers: [{ accountId, email: BOB }],
        keys: [{ keyId, revokedAt: expect.any(String) }],
        accountBlocks: [{ accountId, blockedAt: expect.any(String) }],
        endUserBlocks: [{ accountId, email: CAROL, blockedAt: expect.any(String) }],
        webhookSecrets: [accountId],
      },
      adopted: false,
    });
    expect(report.entities).toContainEqual({
      entity: 'request',
      ...{ restored: 6, living: 4, added: 1, gone: 3, changed: 1 },
    });
    expect(String(report.newest.living.request) > String(report.newest.restored.request)).toBe(true);
    expect(JSON.stringify(report)).not.toContain('whsec_');
  });

  test('says the same as a text, which ends with the command that adopts it', async () => {
    const { status, stdout, stderr } = await restore();

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${accountId} 976 restored, 1022 living`);
    expect(stdout).toContain('Unfinished in it: 3 requests with 12 xTokens, which are failed and refunded.');
    expect(stdout).toContain(`Nothing is adopted yet: table restore --at ${instantIn(first).slice(0, 19)}`);
  });

  test.each([
    ['yesterday', 2, /It must be a time/],
    ['2020-01-01T00:00:00Z', 1, /^The table the-table can be restored to a second from \S+ to \S+\.\n$/],
  ])('is refused for %s', async (at, status, stderr) => {
    expect(await service.ops('table', 'restore', '--at', at)).toMatchObject({
      status,
      stderr: expect.stringMatching(stderr),
    });
  });

  test('adopts nothing while executions run', async () => {
    const start = new StartExecutionCommand({ stateMachineArn: service.generation, name: 'waits' });
    const { executionArn } = await sfn.send(start);

    expect(await restore('--yes')).toMatchObject({
      status: 1,
      stderr: 'Executions run: end them first by executions stop-all.\n',
    });
    await sfn.send(new StopExecutionCommand({ executionArn }));
  });
});

/** Makes a balance in the restored table wrong by so much. */
const corrupt = async (byThousandths: number): Promise<void> => {
  await DynamoDBDocumentClient.from(dynamoDb).send(
    new UpdateCommand({
      TableName: first.table,
      Key: accountKey(accountId),
      UpdateExpression: 'ADD balanceThousandths :by',
      ExpressionAttributeValues: { ':by': byThousandths },
    }),
  );
};

test('a table whose ledgers do not add up is not adopted', async () => {
  await corrupt(1_000);
  const { status, stdout, stderr } = await restore('--yes', '--json');
  await corrupt(-1_000);

  expect([status, stderr]).toEqual([
    1,
    'The restored ledgers have 1 problem. Give another instant, or --accept-problems.\n',
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ adopted: false, ledger: { problems: [{ kind: 'balance' }] } });
  await service.json('accounts', 'unblock', '--account', accountId);
  await service.json('accounts', 'block', '--account', accountId);
});

describe('table restore --yes', () => {
  let adopted: Report;
  const onRestored = <Result>(work: () => Promise<Result>): Promise<Result> => onTable(first.table, work);
  beforeAll(async () => {
    adopted = await service.json<Report>('table', 'restore', '--at', instantIn(first), '--yes');
  });

  test('prints the deployment, and ledgers that add up', () => {
    expect(adopted).toMatchObject({
      adopted: true,
      deploy: `npx cdk deploy -c tableName=${first.table}`,
      ledger: { problems: [] },
    });
  });

  test('deletes again what was deleted since: requests with a mark, and an end-user with all of theirs', async () => {
    await onRestored(async () => {
      expect(await findRequest(ids.deleted)).toBeUndefined();
      expect(await findDeletedRequest(accountId, ids.deleted)).toMatchObject({
        accounted: { status: 'failed' },
      });
      expect(await findRequest(ids.bobs)).toBeUndefined();
      await expect(getEndUser({ accountId, email: BOB })).rejects.toThrow('There is no such end-user.');
      expect(await findRequest(ids.kept)).toMatchObject({ status: 'succeeded' });
    });
  });

  test('brings back what was lost by no call of the API', async () => {
    await onRestored(async () => {
      expect(await findRequest(ids.wiped)).toMatchObject({ status: 'succeeded' });
      expect(await getEndUser({ accountId, email: DAVE })).toMatchObject({ totalRequests: 1 });
    });
  });

  test('revokes, blocks and replaces again what was since', async () => {
    const living = await findAccount(accountId);
    await onRestored(async () => {
      expect(await listApiKeys(accountId)).toEqual([
        expect.objectContaining({ keyId, revokedAt: expect.any(String) }),
      ]);
      expect(await getEndUser({ accountId, email: CAROL })).toHaveProperty('blockedAt');
      const { webhookSecret, previousWebhookSecret, blockedAt } = await getAccount(accountId);
      expect(blockedAt).toBe(living?.blockedAt);
      expect({ webhookSecret, previousWebhookSecret }).toEqual({
        webhookSecret: living?.webhookSecret,
        previousWebhookSecret: living?.previousWebhookSecret,
      });
    });
  });

  test('records in the restored table who adopted it', async () => {
    await onRestored(async () => {
      const { value } = await listAuditEntries({}).next();
      expect(value).toMatchObject({ action: 'table restore', subject: first.table });
    });
  });

  test('gives the table what a restore leaves behind', async () => {
    const TableName = first.table;
    const { Table } = await dynamoDb.send(new DescribeTableCommand({ TableName }));
    const { TimeToLiveDescription } = await dynamoDb.send(new DescribeTimeToLiveCommand({ TableName }));
    const { Tags } = await dynamoDb.send(new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }));
    const { ContinuousBackupsDescription } = await dynamoDb.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );

    expect(Table?.DeletionProtectionEnabled).toBe(true);
    expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' });
    expect(Tags).toEqual([{ Key: 'service', Value: 'GenerationService' }]);
    expect(ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus).toBe(
      'ENABLED',
    );
  });

  test('denies writes to the living table, so that a deployment without the key fails instead of splitting the books', async () => {
    expect(await service.ops('balance', 'topup', '--account', accountId, '--amount', '1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('with an explicit deny in a resource-based policy'),
    });
  });

  test('can be repeated', async () => {
    const again = await service.json<Report>('table', 'restore', '--at', instantIn(first), '--yes');

    expect(again).toMatchObject({ adopted: true, removals: { requests: [], endUsers: [], keys: [] } });
    // The refunds that the first time wrote have numbers that the living ledger gave to other entries.
    expect(again.lost).toEqual(adopted.lost);
    expect(again.lost).toMatchObject({ operatorChanges: [{ id: lost.entryId }] });
  });

  test('adopts a table whose ledgers do not add up only with --accept-problems, and still fails', async () => {
    await corrupt(1_000);
    const { status, stdout, stderr } = await service.ops(
      ...['table', 'restore', '--at', instantIn(first), '--yes', '--accept-problems', '--json'],
    );
    await corrupt(-1_000);

    expect([status, stderr]).toEqual([1, 'The restored ledgers have 1 problem.\n']);
    expect(JSON.parse(stdout)).toMatchObject({ adopted: true });
  });

  test('leaves an unfinished request whose execution has ended to the reconciler, which refunds it once', async () => {
    await onRestored(async () => {
      const before = await getAccount(accountId);
      await reconcileRequest(ids.open);
      await reconcileRequest(ids.open);

      expect(await findRequest(ids.open)).toMatchObject({ status: 'failed', refundThousandths: 4_000 });
      const after = await getAccount(accountId);
      expect(after.balanceThousandths - before.balanceThousandths).toBe(4_000);
    });
  });
});

describe('table rehearse', () => {
  test('restores the table in use, measures and judges it, and deletes it again', async () => {
    const { status, stdout, stderr } = await service.ops('table', 'rehearse', '--json');
    const { TableNames } = await dynamoDb.send(new ListTablesCommand({}));

    // What was wiped from the table in use has left a debit without a request.
    expect([status, stderr]).toEqual([1, 'The restored ledgers have 1 problem.\n']);
    expect(JSON.parse(stdout)).toMatchObject({
      table: expect.stringMatching(/^the-table-at-\d{8}T\d{6}Z-rehearsal$/),
      ledger: { accounts: 2, problems: [{ kind: 'debit_without_request' }] },
      rtoSeconds: expect.any(Number),
      rpoSeconds: expect.any(Number),
      adopted: false,
    });
    expect(TableNames?.toSorted()).toEqual([TABLE_NAME, first.table]);
  });

  test('deletes the table also when it cannot be examined', async () => {
    const send = jest.spyOn(table, 'send').mockImplementation(() => Promise.reject(new Error('no answer')));
    const { status } = await service.ops('table', 'rehearse');
    send.mockRestore();
    const { TableNames } = await dynamoDb.send(new ListTablesCommand({}));

    expect([status, TableNames?.toSorted()]).toEqual([1, [TABLE_NAME, first.table]]);
  });
});
