import { describe, expect, test } from '@jest/globals';
import { BOUNDARY_KEY } from '../../lib/permissions-boundary.ts';
import { DEVELOPMENT, PRODUCTION, SANDBOX } from './option-sets.ts';
import { EVERYTHING_CONFIGURED, propertiesOf, render, synthesizeService } from './service-template.ts';

const ARN = 'arn:aws:iam::111122223333:policy/boundary';
const QUALIFIER = '@aws-cdk/core:bootstrapQualifier';

describe('a permissions boundary', () => {
  // `destroy` and the sandbox bring custom resources and functions that a plain stack lacks.
  test.each([
    ['as text of the command line', JSON.stringify({ arn: ARN }), ARN],
    ['as an object of cdk.json', { arn: ARN }, ARN],
    [
      'by a name with the qualifier',
      { name: `cdk-\${Qualifier}-boundary` },
      'arn:AWS::Partition:iam::AWS::AccountId:policy/cdk-acme1-boundary',
    ],
  ])('is that of every role: %s', async (_how, boundary, expected) => {
    const { resources } = await synthesizeService({
      ...{ ...PRODUCTION, ...EVERYTHING_CONFIGURED, ...SANDBOX, ...DEVELOPMENT },
      [BOUNDARY_KEY]: boundary,
      [QUALIFIER]: 'acme1',
    });
    const roles = propertiesOf(resources, 'AWS::IAM::Role');

    expect(roles.length).toBeGreaterThan(48);
    expect(Object.keys(resources)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^CustomS3AutoDeleteObjects.*Role/)]),
    );
    for (const { PermissionsBoundary } of roles) expect(render(PermissionsBoundary)).toBe(expected);
  });

  test.each([
    'boundary',
    '{"names":"x"}',
    '{"name":""}',
    { name: 'a', arn: ARN },
    { arn: 'policy/boundary' },
  ])('is refused as %j, which the CDK would pass over in silence', async (given) => {
    await expect(synthesizeService({ [BOUNDARY_KEY]: given })).rejects.toThrow(
      /Expected {"name":"…"} or {"arn":"…"}.* → at .*permissionsBoundary/,
    );
  });

  test('is none by default', async () => {
    const { resources } = await synthesizeService();

    for (const { PermissionsBoundary } of propertiesOf(resources, 'AWS::IAM::Role'))
      expect(PermissionsBoundary).toBeUndefined();
  });
});

test('another bootstrap qualifier is where all code lies, that of custom resources included', async () => {
  const { resources } = await synthesizeService({ ...DEVELOPMENT, ...SANDBOX, [QUALIFIER]: 'acme1' });
  const buckets = propertiesOf(resources, 'AWS::Lambda::Function').map(({ Code }) =>
    JSON.stringify(Code.S3Bucket),
  );

  expect(buckets.length).toBeGreaterThan(40);
  for (const bucket of buckets) expect(bucket).toContain('cdk-acme1-assets-');
  expect(JSON.stringify(resources)).not.toContain('hnb659fds');
});
