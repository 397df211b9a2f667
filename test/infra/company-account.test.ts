import { describe, expect, test } from '@jest/globals';
import { BOUNDARY_KEY } from '../../lib/permissions-boundary.ts';
import { DEVELOPMENT, EVERY_OPTION } from './option-sets.ts';
import { propertiesOf, render, synthesizeService } from './service-template.ts';

const ARN = 'arn:aws:iam::111122223333:policy/boundary';
// `destroy` and the sandbox bring custom resources and functions that a plain stack lacks.
const EVERYWHERE = {
  ...{ ...EVERY_OPTION, ...DEVELOPMENT },
  '@aws-cdk/core:bootstrapQualifier': 'acme1',
};
const BY_ARN = { ...EVERYWHERE, [BOUNDARY_KEY]: JSON.stringify({ arn: ARN }) };
const BY_NAME = { ...EVERYWHERE, [BOUNDARY_KEY]: { name: `cdk-\${Qualifier}-boundary` } };

describe('a permissions boundary', () => {
  test.each([
    ['an ARN, as text of the command line', BY_ARN, ARN],
    [
      'a name with the qualifier, as an object of cdk.json',
      BY_NAME,
      'arn:AWS::Partition:iam::AWS::AccountId:policy/cdk-acme1-boundary',
    ],
  ])('is that of every role: %s', async (_how, context, expected) => {
    const { resources } = await synthesizeService(context);
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
  const { resources } = await synthesizeService(BY_NAME);
  const buckets = propertiesOf(resources, 'AWS::Lambda::Function').map(({ Code }) =>
    JSON.stringify(Code.S3Bucket),
  );

  expect(buckets.length).toBeGreaterThan(40);
  for (const bucket of buckets) expect(bucket).toContain('cdk-acme1-assets-');
  expect(JSON.stringify(resources)).not.toContain('hnb659fds');
});
