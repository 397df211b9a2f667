import {
  ConditionalCheckFailedException,
  ContinuousBackupsUnavailableException,
  DeleteItemCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  PutResourcePolicyCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import {
  copySettings,
  denyWrites,
  restoredTableName,
  restoreTable,
} from '../../../ops/restore/restored-table.ts';

const aws = mockClient(DynamoDBClient);
const ARN = 'arn:aws:dynamodb:eu-west-1:111122223333:table/living';
const AT = '2026-11-23T22:15:00.000Z';
const refusal = { message: 'refused', $metadata: {} };
const accessDenied = Object.assign(new Error('denied'), { name: 'AccessDeniedException' });
let pausedMs: number[];
const pause = async (milliseconds: number): Promise<void> => {
  pausedMs.push(milliseconds);
};

beforeEach(() => {
  aws.reset();
  pausedMs = [];
  aws.on(DescribeContinuousBackupsCommand).resolves({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: {
        EarliestRestorableDateTime: new Date('2026-11-01T00:00:00Z'),
        LatestRestorableDateTime: new Date('2026-11-23T23:00:00Z'),
      },
    },
  });
});

describe('the name of a restored table', () => {
  test('is the same for the same instant, and does not grow with each restore', () => {
    const name = restoredTableName('living', AT);

    expect(name).toBe('living-at-20261123T221500Z');
    expect(restoredTableName(name, '2026-11-24T01:02:03.000Z')).toBe('living-at-20261124T010203Z');
  });
});

describe('a restore', () => {
  const restore = (at = AT, name = 'restored') =>
    restoreTable('living', { name, at, said: () => undefined }, pause);
  const missing = new ResourceNotFoundException(refusal);
  const table = (TableStatus: 'CREATING' | 'ACTIVE', SourceTableArn = ARN) => ({
    Table: {
      TableStatus,
      RestoreSummary: {
        SourceTableArn,
        RestoreDateTime: new Date(AT),
        RestoreInProgress: TableStatus === 'CREATING',
      },
    },
  });

  test('is waited for, less and less often, also while the new table is not described yet', async () => {
    aws
      .on(DescribeTableCommand)
      .rejectsOnce(missing)
      .rejectsOnce(missing)
      .resolvesOnce(table('CREATING'))
      .resolves(table('ACTIVE'));

    expect(await restore()).toBe(AT);
    expect(aws.commandCalls(RestoreTableToPointInTimeCommand)[0]?.args[0].input).toEqual({
      SourceTableName: 'living',
      TargetTableName: 'restored',
      RestoreDateTime: new Date(AT),
    });
    expect(pausedMs).toEqual([100, 110]);
  });

  test('that an earlier command began is waited for, not begun again', async () => {
    aws.on(DescribeTableCommand).resolvesOnce(table('CREATING')).resolves(table('ACTIVE'));

    await restore();

    expect(aws.commandCalls(RestoreTableToPointInTimeCommand)).toEqual([]);
  });

  test('that vanishes has failed', async () => {
    aws.on(DescribeTableCommand).rejects(missing);

    await expect(restore()).rejects.toThrow('The table restored does not appear: its restore failed.');
    expect(pausedMs.reduce((sum, each) => sum + each, 0)).toBeLessThan(330_000);
  });

  test('does not take a table of another origin for its own', async () => {
    aws.on(DescribeTableCommand).resolves(table('ACTIVE', ARN.replace('living', 'another')));

    await expect(restore()).rejects.toThrow('The table restored exists, and was not restored from living.');
  });

  test.each(['2026-10-31T23:59:59.000Z', '2026-11-23T23:00:01.000Z'])(
    'is refused for %s, which is out of reach',
    async (at) => {
      aws.on(DescribeTableCommand).rejects(missing);

      await expect(restore(at)).rejects.toThrow(
        'The table living can be restored to a second from 2026-11-01T00:00:00.000Z to 2026-11-23T23:00:00.000Z.',
      );
    },
  );

  test('is refused for a table without point-in-time recovery', async () => {
    aws.on(DescribeTableCommand).rejects(missing);
    aws.on(DescribeContinuousBackupsCommand).resolves({});

    await expect(restore()).rejects.toThrow('Point-in-time recovery of the table living is off');
  });
});

describe('the denial of writes', () => {
  beforeEach(() => {
    aws.on(DescribeTableCommand).resolves({ Table: { TableArn: ARN } });
    aws.on(PutResourcePolicyCommand).resolves({});
  });

  test('lasts for everyone and every write, and is waited for', async () => {
    aws.on(DeleteItemCommand).rejectsOnce(new ConditionalCheckFailedException(refusal)).rejects(accessDenied);

    await denyWrites('living', pause);

    const { ResourceArn, Policy = '' } = aws.commandCalls(PutResourcePolicyCommand)[0]?.args[0].input ?? {};
    expect(ResourceArn).toBe(ARN);
    expect(JSON.parse(Policy).Statement).toEqual([
      {
        Sid: 'Superseded',
        Effect: 'Deny',
        Principal: '*',
        Action: ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'].map((name) => `dynamodb:${name}`),
        Resource: ARN,
      },
    ]);
    expect(pausedMs).toEqual([1_000]);
  });

  test('is not taken for certain when a write fails for another reason', async () => {
    aws.on(DeleteItemCommand).rejects(Object.assign(new Error('throttled'), { name: 'ThrottlingException' }));

    await expect(denyWrites('living', pause)).rejects.toThrow('throttled');
  });

  test('fails when writes are still accepted after a minute', async () => {
    aws.on(DeleteItemCommand).rejects(new ConditionalCheckFailedException(refusal));

    await expect(denyWrites('living', pause)).rejects.toThrow(
      'Writes to the table living are still accepted.',
    );
    expect(pausedMs).toEqual(Array(59).fill(1_000));
  });
});

describe('the settings of a restored table', () => {
  const give = (name: string, Table: object) =>
    aws.on(DescribeTableCommand, { TableName: name }).resolves({ Table: Table });
  beforeEach(() => {
    give('living', { TableArn: ARN, DeletionProtectionEnabled: true });
    give('restored', { TableArn: ARN.replace('living', 'restored') });
    aws.on(ListTagsOfResourceCommand).resolves({
      Tags: [
        { Key: 'service', Value: 'Stack' },
        { Key: 'aws:cloudformation:stack-name', Value: 'Stack' },
      ],
    });
    const TimeToLiveDescription = { TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' } as const;
    aws.on(DescribeTimeToLiveCommand, { TableName: 'living' }).resolves({ TimeToLiveDescription });
    aws.on(DescribeTimeToLiveCommand, { TableName: 'restored' }).resolves({});
    aws.on(UpdateContinuousBackupsCommand).resolves({});
  });

  test('are those of the living one, but for tags that only AWS sets', async () => {
    await copySettings('living', 'restored', pause);

    expect(aws.commandCalls(TagResourceCommand)[0]?.args[0].input.Tags).toEqual([
      { Key: 'service', Value: 'Stack' },
    ]);
    expect(aws.commandCalls(UpdateTimeToLiveCommand)[0]?.args[0].input).toMatchObject({
      TableName: 'restored',
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    });
    expect(aws.commandCalls(UpdateTableCommand)[0]?.args[0].input).toEqual({
      TableName: 'restored',
      DeletionProtectionEnabled: true,
    });
  });

  test('are waited for where DynamoDB refuses recovery in the first minutes of a table', async () => {
    aws
      .on(UpdateContinuousBackupsCommand)
      .rejectsOnce(new ContinuousBackupsUnavailableException(refusal))
      .resolves({});

    await copySettings('living', 'restored', pause);

    expect(aws.commandCalls(UpdateContinuousBackupsCommand)).toHaveLength(2);
    expect(pausedMs).toEqual([10_000]);
  });

  test('are not set again', async () => {
    give('restored', { DeletionProtectionEnabled: true });
    const TimeToLiveDescription = { TimeToLiveStatus: 'ENABLING', AttributeName: 'ttl' } as const;
    aws.on(DescribeTimeToLiveCommand, { TableName: 'restored' }).resolves({ TimeToLiveDescription });

    await copySettings('living', 'restored', pause);

    expect(aws.commandCalls(UpdateTimeToLiveCommand)).toEqual([]);
    expect(aws.commandCalls(UpdateTableCommand)).toEqual([]);
  });
});
