import { beforeAll, describe, expect, test } from '@jest/globals';
import { CachePolicy } from 'aws-cdk-lib/aws-cloudfront';
import {
  ofType,
  onlyOne,
  type Resource,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

let service: ServiceTemplate;
let distribution: Resource['Properties'];
beforeAll(() => {
  service = synthesizeService();
  distribution = onlyOne(service.resources, 'AWS::CloudFront::Distribution').Properties.DistributionConfig;
});

describe('the distribution', () => {
  test('has one behaviour: reads over HTTPS by signed URL, never cached', () => {
    const { DefaultCacheBehavior: behaviour, CacheBehaviors } = distribution;

    expect(CacheBehaviors).toBeUndefined();
    expect(behaviour).toMatchObject({
      AllowedMethods: ['GET', 'HEAD'],
      ViewerProtocolPolicy: 'https-only',
      CachePolicyId: CachePolicy.CACHING_DISABLED.cachePolicyId,
    });
    expect(behaviour.TrustedKeyGroups.map(render)).toEqual(['DeliveryKeyGroup']);
    expect(behaviour.TrustedSigners).toBeUndefined();
  });

  test('trusts one key, whose public half the deployment makes', () => {
    const group = onlyOne(service.resources, 'AWS::CloudFront::KeyGroup').Properties.KeyGroupConfig;
    const key = onlyOne(service.resources, 'AWS::CloudFront::PublicKey').Properties.PublicKeyConfig;

    expect(group.Items.map(render)).toEqual(['DeliveryPublicKey']);
    expect(render(key.EncodedKey)).toBe('DeliveryKeyPair.PublicKey');
  });

  test('reads the bucket as itself, by origin access control', () => {
    const control = onlyOne(service.resources, 'AWS::CloudFront::OriginAccessControl').Properties;

    expect(control.OriginAccessControlConfig).toMatchObject({
      OriginAccessControlOriginType: 's3',
      SigningBehavior: 'always',
      SigningProtocol: 'sigv4',
    });
    expect(distribution.Origins).toHaveLength(1);
    const [origin] = distribution.Origins;
    expect(render(origin.DomainName)).toBe('DataStoreOutputs.RegionalDomainName');
    expect(render(origin.OriginAccessControlId)).toBe('DeliveryDistributionOrigin1S3OriginAccessControl.Id');
    expect(origin.S3OriginConfig).toEqual({ OriginAccessIdentity: '' });
  });
});

test('the bucket lets this distribution read, and nobody else do anything', () => {
  const { PolicyDocument } = onlyOne(service.resources, 'AWS::S3::BucketPolicy').Properties;

  const allowed = PolicyDocument.Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Allow');

  expect(allowed).toHaveLength(1);
  expect(allowed[0]).toMatchObject({
    Action: 's3:GetObject',
    Principal: { Service: 'cloudfront.amazonaws.com' },
  });
  expect(render(allowed[0].Resource)).toBe('DataStoreOutputs.Arn/*');
  expect(Object.keys(allowed[0].Condition)).toEqual(['StringEquals']);
  expect(render(allowed[0].Condition.StringEquals['AWS:SourceArn'])).toBe(
    'arn:AWS::Partition:cloudfront::AWS::AccountId:distribution/DeliveryDistribution',
  );
});

describe('the secrets', () => {
  const secrets = () =>
    Object.fromEntries(
      ofType(service.resources, 'AWS::SecretsManager::Secret').map(([logicalId, { Properties }]) => [
        render({ Ref: logicalId }),
        Properties,
      ]),
    );
  /** Those that somebody else fills: an operator, or a function at deploy time. */
  const EMPTY = ['ProviderSecretsModelArk', 'ProviderSecretsModelStudio', 'DeliverySigningKey'];

  test('are these, and no others', () => {
    expect(Object.keys(secrets()).toSorted()).toEqual([...EMPTY, 'ProviderSecretsCallbacks'].toSorted());
  });

  test.each(EMPTY)('start empty: the template holds no value of %s and asks for none', (name) => {
    expect(Object.keys(secrets()[name] ?? {})).toEqual(['Description']);
  });

  test('the one of callback URLs is made by AWS, long, and known to nobody', () => {
    const { Description: _, ...made } = secrets().ProviderSecretsCallbacks ?? {};

    expect(made).toEqual({ GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true } });
  });

  test('the signing key is written at deploy time, once its function may write it', () => {
    const keyPair = onlyOne(service.resources, 'Custom::DeliveryKeyPair');
    const role = service.functions['events/create-signing-key']?.properties.Role['Fn::GetAtt'][0];
    const [policyId] = ofType(service.resources, 'AWS::IAM::Policy').flatMap(([logicalId, policy]) =>
      policy.Properties.Roles.some((attached: { Ref: string }) => attached.Ref === role) ? [logicalId] : [],
    );

    expect(render(keyPair.Properties.ServiceToken)).toBe('DeliveryCreateSigningKeyFunction.Arn');
    expect(keyPair.DependsOn).toContain(policyId);
  });
});
