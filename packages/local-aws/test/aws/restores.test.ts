import {
  DeleteResourcePolicyCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  GetResourcePolicyCommand,
  PutResourcePolicyCommand,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../src/aws/endpoint.ts';
import type { Principal } from '../../src/types.ts';
import {
  allow,
  aPrincipal,
  clientsOf,
  endpointOptions,
  OPERATOR,
  rejectionOf,
  removeDirectory,
  startEndpoint,
  TABLE,
  TABLE_ARN,
  TABLES,
} from './support.ts';

const RESTORED = `${TABLE}-restored`;
const RESTORED_ARN = TABLE_ARN.replace(TABLE, RESTORED);
const WRITES = ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'];
const READS = ['GetItem', 'Query', 'Scan'];
const withPrefix = (names: readonly string[]): string[] => names.map((name) => `dynamodb:${name}`);

let options: ReturnType<typeof endpointOptions>;
let endpoint: AwsEndpoint;
let ddb: DynamoDBDocumentClient;
const start = async (): Promise<void> => {
  endpoint = await startEndpoint(options);
  ddb = DynamoDBDocumentClient.from(clientsOf(endpoint).dynamodb);
};
beforeEach(async () => {
  const tables = TABLES.map((table) => ({ ...table, pointInTimeRecovery: true }));
  options = endpointOptions({ tables });
  await start();
});
afterEach(async () => {
  await endpoint.close();
  removeDirectory(options.dataDir);
});

const as = (principal: Principal): DynamoDBDocumentClient => {
  endpoint.addPrincipals([principal]);
  return DynamoDBDocumentClient.from(clientsOf(endpoint, principal).dynamodb);
};
const put = (table: string, PK: string, more = {}) =>
  ddb.send(new PutCommand({ TableName: table, Item: { PK, SK: 'x', ...more } }));
const restore = (more = {}, client = ddb) =>
  client.send(
    new RestoreTableToPointInTimeCommand({
      SourceTableName: TABLE,
      TargetTableName: RESTORED,
      UseLatestRestorableTime: true,
      ...more,
    }),
  );
const described = async (table: string) =>
  (await ddb.send(new DescribeTableCommand({ TableName: table }))).Table;
const restored = async (): Promise<void> => {
  for (let tries = 0; tries < 500; tries++) {
    if ((await described(RESTORED))?.TableStatus === 'ACTIVE') return;
  }
  throw new Error('The table was not restored.');
};
const keysIn = async (table: string): Promise<unknown[]> => {
  const { Items = [] } = await ddb.send(new ScanCommand({ TableName: table }));
  return Items.map(({ PK }) => PK).toSorted();
};
const deny = (Action: string[], Resource = TABLE_ARN) =>
  ddb.send(
    new PutResourcePolicyCommand({
      ResourceArn: TABLE_ARN,
      Policy: JSON.stringify({ Statement: [{ Effect: 'Deny', Principal: '*', Action, Resource }] }),
    }),
  );

describe('a restore', () => {
  test('makes a table with the items of that moment, its keys and its indexes', async () => {
    for (let item = 0; item < 60; item++)
      await put(TABLE, `item${item}`, { GSI1PK: 'list', GSI1SK: `${item}` });

    const { TableDescription } = await restore();
    await put(TABLE, 'later');
    await restored();

    expect(TableDescription).toMatchObject({
      TableStatus: 'CREATING',
      RestoreSummary: { SourceTableArn: TABLE_ARN, RestoreInProgress: true },
    });
    expect(await keysIn(RESTORED)).toHaveLength(60);
    expect(await keysIn(TABLE)).toContain('later');
    expect(await described(RESTORED)).toMatchObject({
      TableArn: RESTORED_ARN,
      RestoreSummary: { RestoreInProgress: false, RestoreDateTime: expect.any(Date) },
      GlobalSecondaryIndexes: [{ IndexName: 'GSI1', IndexArn: `${RESTORED_ARN}/index/GSI1` }],
    });
    const listed = await ddb.send(
      new QueryCommand({
        TableName: RESTORED,
        IndexName: 'GSI1',
        KeyConditionExpression: 'GSI1PK = :list',
        ExpressionAttributeValues: { ':list': 'list' },
      }),
    );
    expect(listed.Count).toBe(60);
  });

  test('takes neither the time to live nor the recovery of the table', async () => {
    await restore();
    await restored();

    const { TimeToLiveDescription } = await ddb.send(new DescribeTimeToLiveCommand({ TableName: RESTORED }));
    expect(TimeToLiveDescription?.TimeToLiveStatus).toBe('DISABLED');
    expect(
      await rejectionOf(restore({ SourceTableName: RESTORED, TargetTableName: 'another' })),
    ).toMatchObject({
      name: 'PointInTimeRecoveryUnavailableException',
    });
  });

  test('cannot be read before it is complete', async () => {
    for (let item = 0; item < 100; item++) await put(TABLE, `item${item}`);
    await restore();
    const readings = new Set<string>();
    for (let tries = 0; tries < 500 && !readings.has('100 items'); tries++) {
      const reading = keysIn(RESTORED).then(
        (keys) => `${keys.length} items`,
        (error: Error) => error.name,
      );
      readings.add(await reading);
    }

    readings.delete('ResourceNotFoundException');
    expect([...readings]).toEqual(['100 items']);
  });

  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

  test.each([
    ['an unknown table', () => ({ SourceTableName: 'unknown' }), 'TableNotFoundException'],
    ['a name that is taken', () => ({ TargetTableName: TABLE }), 'TableAlreadyExistsException'],
    ['neither of the times', () => ({ UseLatestRestorableTime: false }), 'ValidationException'],
    ['both times', () => ({ RestoreDateTime: minutesAgo(0) }), 'ValidationException'],
    [
      'another instant than the present',
      () => ({ UseLatestRestorableTime: undefined, RestoreDateTime: minutesAgo(1) }),
      'InvalidRestoreTimeException',
    ],
  ])('is refused for %s', async (_why, more, name) => {
    expect(await rejectionOf(restore(more()))).toMatchObject({ name });
  });

  test('needs the permission on the table, and those to write the new one', async () => {
    const restoring = allow(['dynamodb:RestoreTableToPointInTime'], TABLE_ARN);
    const writing = allow(withPrefix([...WRITES, ...READS]), RESTORED_ARN);

    expect(await rejectionOf(restore({}, as(aPrincipal('one', restoring))))).toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(`dynamodb:BatchWriteItem on resource: ${RESTORED_ARN}`),
    });
    expect(await rejectionOf(restore({}, as(aPrincipal('two', writing))))).toMatchObject({
      message: expect.stringContaining('dynamodb:RestoreTableToPointInTime'),
    });
    await restore({}, as(aPrincipal('three', restoring, writing)));
    await restored();
  });

  test('makes a table whose items a role may be limited to, also after a restart', async () => {
    await put(TABLE, 'USER#1');
    await restore();
    await restored();
    const limited = aPrincipal('limited', {
      ...allow(['dynamodb:PutItem'], RESTORED_ARN),
      leadingKeys: ['USER#*'],
    });
    const write = (PK: string) =>
      as(limited).send(new PutCommand({ TableName: RESTORED, Item: { PK, SK: 'x' } }));

    await write('USER#2');
    expect(await rejectionOf(write('OTHER#1'))).toMatchObject({ name: 'AccessDeniedException' });
    await endpoint.close();
    await start();
    await write('USER#3');
    expect(await keysIn(RESTORED)).toEqual(['USER#1', 'USER#2', 'USER#3']);
    expect(await described(RESTORED)).toMatchObject({ RestoreSummary: { SourceTableArn: TABLE_ARN } });
  });
});

describe('continuous backups', () => {
  const recoveryOf = async (table: string) =>
    (await ddb.send(new DescribeContinuousBackupsCommand({ TableName: table }))).ContinuousBackupsDescription
      ?.PointInTimeRecoveryDescription;

  test('are those of the template, and reach no further back than now', async () => {
    const { PointInTimeRecoveryStatus, EarliestRestorableDateTime, LatestRestorableDateTime } =
      (await recoveryOf(TABLE)) ?? {};

    expect(PointInTimeRecoveryStatus).toBe('ENABLED');
    expect(EarliestRestorableDateTime).toEqual(LatestRestorableDateTime);
    expect(Date.now() - Number(LatestRestorableDateTime)).toBeLessThan(5_000);
  });

  test('are switched on for a restored table, which is then forgotten with its deletion', async () => {
    await restore();
    await restored();
    expect(await recoveryOf(RESTORED)).toEqual({ PointInTimeRecoveryStatus: 'DISABLED' });

    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
    await ddb.send(
      new UpdateContinuousBackupsCommand({ TableName: RESTORED, PointInTimeRecoverySpecification }),
    );
    expect((await recoveryOf(RESTORED))?.PointInTimeRecoveryStatus).toBe('ENABLED');

    await ddb.send(new DeleteTableCommand({ TableName: RESTORED }));
    expect(await rejectionOf(recoveryOf(RESTORED))).toMatchObject({ name: 'TableNotFoundException' });
    await restore();
    await restored();
    expect((await recoveryOf(RESTORED))?.PointInTimeRecoveryStatus).toBe('DISABLED');
  });
});

describe('a policy of a table', () => {
  test('denies what it names to everyone, and to the operator', async () => {
    await put(TABLE, 'before');
    await deny(withPrefix(WRITES));

    expect(await rejectionOf(put(TABLE, 'after'))).toMatchObject({
      name: 'AccessDeniedException',
      message: `User: ${OPERATOR.name} is not authorized to perform: dynamodb:PutItem on resource: ${TABLE_ARN} with an explicit deny in a resource-based policy`,
    });
    expect(await keysIn(TABLE)).toEqual(['before']);
    expect((await ddb.send(new GetResourcePolicyCommand({ ResourceArn: TABLE_ARN }))).Policy).toContain(
      'dynamodb:PutItem',
    );
  });

  test('lasts over a restart, and ends with its deletion', async () => {
    await deny(withPrefix(WRITES));
    await endpoint.close();
    await start();
    expect(await rejectionOf(put(TABLE, 'after'))).toMatchObject({ name: 'AccessDeniedException' });

    await ddb.send(new DeleteResourcePolicyCommand({ ResourceArn: TABLE_ARN }));
    await put(TABLE, 'after');
    expect(
      await rejectionOf(ddb.send(new DeleteResourcePolicyCommand({ ResourceArn: TABLE_ARN }))),
    ).toMatchObject({ name: 'PolicyNotFoundException' });
  });

  test('that does anything else is not known here', async () => {
    const Policy = JSON.stringify({
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 'dynamodb:*', Resource: TABLE_ARN }],
    });

    expect(
      await rejectionOf(ddb.send(new PutResourcePolicyCommand({ ResourceArn: TABLE_ARN, Policy }))),
    ).toMatchObject({ name: 'NotImplemented' });
  });
});
