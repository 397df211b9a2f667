import { describe, expect, test } from '@jest/globals';
import { CLIP_PREFIX, OUTPUT_PREFIX } from '../../core/object-keys.ts';
import {
  accountListing,
  apiKeyListing,
  dueListing,
  endUserListing,
  LISTING_INDEX,
  REQUEST_INDEXES,
  requestKey,
  requestListing,
  TTL_ATTRIBUTE,
} from '../../core/table/keys.ts';
import { LEAST, MOST, NEXT_TO_EDGES, PRODUCTION } from './option-sets.ts';
import { onlyOne, render, type ServiceTemplate, synthesizeService } from './service-template.ts';

/** Every index: its name, keys and projected attributes. Written out, because changing any of them recreates the index. */
const INDEXES: [name: string, partition: string, sort: string, attributes: string[]][] = [
  ['GSI1', 'GSI1PK', 'GSI1SK', ['blockedAt']],
  ['GSI2', 'GSI2PK', 'PK', ['ttl', 'expiresAt']],
  ['GSI3', 'GSI3PK', 'PK', ['ttl', 'expiresAt']],
];
const AT = '2026-11-20T09:00:00.000Z';

const service = await synthesizeService();

describe('the table', () => {
  const table = onlyOne(service.resources, 'AWS::DynamoDB::Table');
  const key = (partition: string, sort: string) => [
    { AttributeName: partition, KeyType: 'HASH' },
    { AttributeName: sort, KeyType: 'RANGE' },
  ];

  test('has these keys and indexes, and no others', () => {
    expect(table.Properties.KeySchema).toEqual(key('PK', 'SK'));
    expect(table.Properties.GlobalSecondaryIndexes).toEqual(
      INDEXES.map(([IndexName, partition, sort, NonKeyAttributes]) => ({
        IndexName,
        KeySchema: key(partition, sort),
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes },
      })),
    );
    expect(table.Properties.LocalSecondaryIndexes).toBeUndefined();
  });

  test('has text in every key', () => {
    const names = ['PK', 'SK', 'GSI1PK', 'GSI1SK', 'GSI2PK', 'GSI3PK'];

    expect(table.Properties.AttributeDefinitions).toEqual(
      names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    );
  });

  test.each([
    ['an account', accountListing('acc', AT), ['GSI1']],
    ['an API key', apiKeyListing('acc', AT, 'key'), ['GSI1']],
    ['an end-user', endUserListing('acc', AT), ['GSI1']],
    ['a request', requestListing('acc', 'a@example.com'), ['GSI2', 'GSI3']],
    ['a request, or the deletion of one, with work left', dueListing('CHECK', 'img_1', AT), ['GSI1']],
  ])('has %s in the indexes whose keys the code sets', (_what, attributes, expected) => {
    const item = { ...requestKey('img_1'), ...attributes };
    const indexes = INDEXES.filter(([, partition, sort]) => partition in item && sort in item);

    expect(indexes.map(([name]) => name)).toEqual(expected);
    expect(Object.keys(attributes).toSorted()).toEqual(
      indexes.flatMap(([, ...keys]) => keys.flat().filter((name) => name in attributes)).toSorted(),
    );
  });

  test('has the indexes under the names that the code queries', () => {
    const { byAccount, byEndUser } = REQUEST_INDEXES;

    expect([LISTING_INDEX, byAccount, byEndUser].map(({ name, partition }) => [name, partition])).toEqual(
      INDEXES.map(([name, partition]) => [name, partition]),
    );
  });

  test('is billed on demand', () => {
    expect(table.Properties.BillingMode).toBe('PAY_PER_REQUEST');
    expect(table.Properties.ProvisionedThroughput).toBeUndefined();
  });

  test('expires items by the attribute the code writes', () => {
    expect(table.Properties.TimeToLiveSpecification).toEqual({ AttributeName: TTL_ATTRIBUTE, Enabled: true });
  });

  test('is encrypted and can be restored to any point in time', () => {
    expect(table.Properties.SSESpecification).toEqual({ SSEEnabled: true });
    expect(table.Properties.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
  });

  test('is retained when the stack is deleted', () => {
    expect(table.Properties.DeletionProtectionEnabled).toBe(true);
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('the bucket', () => {
  const bucket = onlyOne(service.resources, 'AWS::S3::Bucket');

  test('blocks public access in all four ways', () => {
    expect(bucket.Properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
  });

  test('is encrypted', () => {
    expect(bucket.Properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ]);
  });

  test.each([
    ['plain HTTP', { Bool: { 'aws:SecureTransport': 'false' } }],
    ['TLS before 1.2', { NumericLessThan: { 's3:TlsVersion': 1.2 } }],
  ])('refuses everything over %s', (_connection, Condition) => {
    const { Statement } = onlyOne(service.resources, 'AWS::S3::BucketPolicy').Properties.PolicyDocument;

    const refusal = Statement.find(
      (statement: { Condition: unknown }) =>
        JSON.stringify(statement.Condition) === JSON.stringify(Condition),
    );

    expect(refusal).toMatchObject({ Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' } });
    expect(refusal.Resource.map(render)).toEqual(['DataStoreOutputs.Arn', 'DataStoreOutputs.Arn/*']);
  });

  test('is retained when the stack is deleted', () => {
    expect(bucket).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('the lifecycle of the files', () => {
  const rulesFor = async (overrides: Record<string, unknown> = {}) => {
    const { resources } = await synthesizeService(overrides);
    return onlyOne(resources, 'AWS::S3::Bucket').Properties.LifecycleConfiguration.Rules;
  };

  test.each([
    [82_800, 2, {}],
    [86_400, 2, MOST],
    [86_401, 3, NEXT_TO_EDGES],
    [1, 2, LEAST],
  ])('as a backstop, expires files whose URLs last %i s after %i days', async (seconds, days, context) => {
    expect({ outputTtlSeconds: 82_800, ...context }).toMatchObject({ outputTtlSeconds: seconds });
    expect(await rulesFor(context)).toContainEqual({
      Id: 'expire-outputs',
      Prefix: OUTPUT_PREFIX,
      ExpirationInDays: days,
      Status: 'Enabled',
    });
  });

  test('removes copies of reference clips that nobody removed', async () => {
    expect(await rulesFor()).toContainEqual({
      Id: 'expire-clips',
      Prefix: CLIP_PREFIX,
      ExpirationInDays: 2,
      Status: 'Enabled',
    });
  });

  test('removes the parts of unfinished uploads', async () => {
    expect(await rulesFor()).toContainEqual({
      Id: 'abort-uploads',
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      Status: 'Enabled',
    });
  });
});

describe('warm throughput', () => {
  const warmOf = ({ resources }: ServiceTemplate) => {
    const { WarmThroughput, GlobalSecondaryIndexes } = onlyOne(resources, 'AWS::DynamoDB::Table').Properties;
    return [{ WarmThroughput }, ...GlobalSecondaryIndexes].map((part) => part.WarmThroughput);
  };

  test("is DynamoDB's own unless it is given", () => {
    expect(warmOf(service)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('is that of the table and of each index, whose throttling would throttle its writes', async () => {
    const warm = { WriteUnitsPerSecond: 10_000, ReadUnitsPerSecond: 30_000 };

    expect(warmOf(await synthesizeService(PRODUCTION))).toEqual([warm, warm, warm, warm]);
  });

  test.each(['4000', '40001', '5000.5', 'fast'])('of %s is refused', async (warmThroughput) => {
    await expect(synthesizeService({ warmThroughput })).rejects.toThrow('at warmThroughput');
  });
});
