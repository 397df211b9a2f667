import { describe, expect, test } from '@jest/globals';
import { ADOPTED_TABLE, PRODUCTION } from './option-sets.ts';
import {
  ofType,
  onlyOne,
  policiesOf,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

const without = await synthesizeService();
const service = await synthesizeService({ exportBucket: 'exports.example' });
const foreign = await synthesizeService(PRODUCTION);
const adopted = await synthesizeService({ exportBucket: 'exports.example', tableName: ADOPTED_TABLE });

const GROUP = expect.stringMatching(/^TableExportGroup/);

const inputOf = ({ resources }: ServiceTemplate): Record<string, unknown> =>
  JSON.parse(render(onlyOne(resources, 'AWS::Scheduler::Schedule').Properties.Target.Input));
const roleOf = ({ resources }: ServiceTemplate) => {
  const [[id, role] = []] = ofType(resources, 'AWS::IAM::Role').filter(([name]) =>
    name.startsWith('TableExport'),
  );
  return {
    trust: role?.Properties.AssumeRolePolicyDocument.Statement,
    statements: policiesOf(resources, id ?? '').flatMap(({ statements }) => statements),
  };
};

describe('the daily export of the table', () => {
  test('is off by default', () => {
    expect(ofType(without.resources, 'AWS::Scheduler::Schedule')).toEqual([]);
    expect(Object.keys(without.resources).filter((id) => id.startsWith('TableExport'))).toEqual([]);
  });

  test('is one call of DynamoDB a day by the scheduler, without a function', () => {
    const { Properties } = onlyOne(service.resources, 'AWS::Scheduler::Schedule');

    expect(Properties).toMatchObject({
      ScheduleExpression: 'rate(1 day)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: {
        Arn: 'arn:aws:scheduler:::aws-sdk:dynamodb:exportTableToPointInTime',
        RetryPolicy: { MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 20 },
      },
    });
    expect(Object.keys(service.functions)).toEqual(Object.keys(without.functions));
  });

  test('exports the whole table to a prefix of the stack, once for all attempts of a day', () => {
    expect(inputOf(service)).toEqual({
      TableArn: 'DataStoreTable.Arn',
      S3Bucket: 'exports.example',
      S3BucketOwner: 'AWS::AccountId',
      S3Prefix: 'GenerationService',
      ExportFormat: 'DYNAMODB_JSON',
      ClientToken: '<aws.scheduler.scheduled-time>',
    });
  });

  test('goes to a bucket of another account by `exportBucketOwner`', () => {
    expect(inputOf(foreign).S3BucketOwner).toBe('444455556666');
  });

  test('exports the table in use, when another is adopted', () => {
    expect(inputOf(adopted).TableArn).toMatch(new RegExp(`:table/${ADOPTED_TABLE}$`));
  });

  test('may export that table and write below that prefix, and nothing else', () => {
    const { statements } = roleOf(service);

    expect(
      statements.map(({ Effect, Action, Resource }) => [Effect, Action, [Resource].flat().map(render)]),
    ).toEqual([
      ['Allow', 'dynamodb:ExportTableToPointInTime', ['DataStoreTable.Arn']],
      [
        'Allow',
        ['s3:AbortMultipartUpload', 's3:PutObject', 's3:PutObjectAcl'],
        [expect.stringMatching(/:s3:::exports\.example\/GenerationService\/\*$/)],
      ],
    ]);
  });

  test('lends its role to the scheduler alone, for schedules of its own group', () => {
    expect(roleOf(service).trust).toEqual([
      {
        Action: 'sts:AssumeRole',
        Effect: 'Allow',
        Principal: { Service: 'scheduler.amazonaws.com' },
        Condition: {
          StringEquals: {
            'aws:SourceAccount': { Ref: 'AWS::AccountId' },
            'aws:SourceArn': { 'Fn::GetAtt': [GROUP, 'Arn'] },
          },
        },
      },
    ]);
  });

  test.each<[Record<string, string>, string]>([
    [{ exportBucketOwner: '444455556666' }, 'exportBucketOwner needs a bucket'],
    [{ exportBucket: 'Capitals' }, 'Expected the name of a bucket'],
    [{ exportBucket: 'exports', exportBucketOwner: '12' }, 'Expected the 12 digits of an AWS account'],
  ])('is refused with %j', async (context, message) => {
    await expect(synthesizeService(context)).rejects.toThrow(message);
  });
});
