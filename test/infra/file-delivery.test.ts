import { describe, expect, test } from '@jest/globals';
import { PROVIDERS } from '../../core/provider-names.ts';
import { LEAST, MOST, NEXT_TO_EDGES } from './option-sets.ts';
import {
  ofType,
  onlyOne,
  policiesOf,
  propertiesOf,
  type Resource,
  render,
  roleOf,
  synthesizeService,
} from './service-template.ts';

/** AWS's managed cache policy: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html */
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';

const service = await synthesizeService();
const distribution = onlyOne(service.resources, 'AWS::CloudFront::Distribution').Properties
  .DistributionConfig;

/** The headers that a behaviour's policy adds. */
const securityHeadersOf = ({ ResponseHeadersPolicyId }: Resource['Properties']) =>
  service.resources[ResponseHeadersPolicyId.Ref]?.Properties.ResponseHeadersPolicyConfig
    .SecurityHeadersConfig;

test('pages of any origin read files and the OpenAPI document, and send forms of uploads; nothing else', () => {
  const corsOf = ({ ResponseHeadersPolicyId }: Resource['Properties']) =>
    service.resources[ResponseHeadersPolicyId?.Ref]?.Properties.ResponseHeadersPolicyConfig.CorsConfig;
  const readable = {
    AccessControlAllowCredentials: false,
    AccessControlAllowHeaders: { Items: ['*'] },
    AccessControlAllowMethods: { Items: ['GET', 'HEAD'] },
    AccessControlAllowOrigins: { Items: ['*'] },
    AccessControlExposeHeaders: { Items: ['Content-Length', 'Content-Range', 'ETag'] },
    OriginOverride: true,
  };

  expect(corsOf(distribution.DefaultCacheBehavior)).toEqual(readable);
  for (const behavior of distribution.CacheBehaviors)
    expect(corsOf(behavior)).toEqual(behavior.PathPattern === '/openapi.json' ? readable : undefined);
  const buckets = Object.values(service.resources).filter(({ Type }) => Type === 'AWS::S3::Bucket');
  expect(buckets.map(({ Properties }) => Properties.CorsConfiguration)).toEqual([
    {
      CorsRules: [
        {
          AllowedHeaders: ['*'],
          AllowedMethods: ['POST'],
          AllowedOrigins: ['*'],
          ExposedHeaders: ['ETag'],
          MaxAge: 3_600,
        },
      ],
    },
  ]);
});

describe('the distribution', () => {
  test('has one behaviour for files: reads over HTTPS by signed URL, never cached', () => {
    const { DefaultCacheBehavior: behaviour } = distribution;

    expect(behaviour).toMatchObject({
      AllowedMethods: ['GET', 'HEAD'],
      ViewerProtocolPolicy: 'https-only',
      CachePolicyId: CACHING_DISABLED,
    });
    expect(behaviour.TrustedKeyGroups.map(render)).toEqual(['DeliveryKeyGroup']);
    expect(behaviour.TrustedSigners).toBeUndefined();
  });

  test('tells browsers not to guess a type from the bytes, which a provider made, and to run nothing in them', () => {
    expect(securityHeadersOf(distribution.DefaultCacheBehavior)).toEqual({
      ContentTypeOptions: { Override: true },
      ContentSecurityPolicy: {
        ContentSecurityPolicy:
          "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        Override: true,
      },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 63_072_000, Override: true },
    });
  });

  test('trusts one public key, created by the deployment', () => {
    const group = onlyOne(service.resources, 'AWS::CloudFront::KeyGroup').Properties.KeyGroupConfig;
    const key = onlyOne(service.resources, 'AWS::CloudFront::PublicKey').Properties.PublicKeyConfig;

    expect(group.Items.map(render)).toEqual(['DeliveryPublicKey']);
    expect(render(key.EncodedKey)).toBe('DeliveryKeyPair.PublicKey');
  });

  test('reads the bucket with origin access control', () => {
    const control = onlyOne(service.resources, 'AWS::CloudFront::OriginAccessControl').Properties;

    expect(control.OriginAccessControlConfig).toMatchObject({
      OriginAccessControlOriginType: 's3',
      SigningBehavior: 'always',
      SigningProtocol: 'sigv4',
    });
    expect(distribution.Origins).toHaveLength(1);
    const [origin] = distribution.Origins;
    expect(render(origin.DomainName)).toBe('DataStoreOutputs.RegionalDomainName');
    expect(render(origin.OriginAccessControlId)).toBe('DeliveryOriginAccessControl.Id');
    expect(origin.S3OriginConfig).toEqual({ OriginAccessIdentity: '' });
  });
});

test('the bucket policy allows this distribution to read, and nothing else', () => {
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

describe('the key pair', () => {
  const signingOf = ({
    FILE_DELIVERY_KEY_PAIR_ID: id,
    FILE_DELIVERY_KEY_SECRET_ARN: secret,
  }: Record<string, unknown>) => ({
    id: render(id),
    secret: render(secret),
  });
  const pairs = async (overrides: Record<string, unknown> = {}) => {
    const { resources, functions } = await synthesizeService(overrides);
    return {
      resources,
      made: propertiesOf(resources, 'Custom::DeliveryKeyPair'),
      trusted: onlyOne(resources, 'AWS::CloudFront::KeyGroup').Properties.KeyGroupConfig.Items.map(render),
      signing: signingOf(functions['api/get-generation']?.properties.Environment.Variables),
    };
  };

  test('is made for a secret, so that another secret means another pair, and within 5 min', async () => {
    const { made } = await pairs();

    expect(made).toHaveLength(1);
    expect(render(made[0]?.SecretArn)).toBe('DeliverySigningKey');
    // Without it CloudFormation waits an hour for a function that cannot answer.
    expect(Number(made[0]?.ServiceTimeout)).toBe(300);
  });

  test('is rotated in three deployments: trust both, sign with the new one, trust it alone', async () => {
    const first = await pairs();
    const both = await pairs(MOST);
    const turned = await pairs(NEXT_TO_EDGES);
    const second = await pairs(LEAST);

    expect(first.trusted).toEqual(['DeliveryPublicKey']);
    expect(both.trusted).toEqual(['DeliveryPublicKey', 'DeliveryPublicKey2']);
    expect(first.signing).toEqual({ id: 'DeliveryPublicKey', secret: 'DeliverySigningKey' });
    expect(both.signing).toEqual(first.signing);
    expect(turned.trusted.toSorted()).toEqual(both.trusted);
    expect(turned.signing).toEqual({ id: 'DeliveryPublicKey2', secret: 'DeliverySigningKey2' });
    expect(second.trusted).toEqual(['DeliveryPublicKey2']);
    expect(second.signing).toEqual(turned.signing);
  });

  test('keeps its resource while another is added: CloudFront can change no public key', async () => {
    const keyOf = ({ resources }: Awaited<ReturnType<typeof pairs>>, name: string) =>
      ofType(resources, 'AWS::CloudFront::PublicKey').find(([id]) => render({ Ref: id }) === name);

    expect(keyOf(await pairs(), 'DeliveryPublicKey')).toEqual(
      keyOf(await pairs(NEXT_TO_EDGES), 'DeliveryPublicKey'),
    );
    expect(keyOf(await pairs(LEAST), 'DeliveryPublicKey')).toBeUndefined();
  });
});

describe('the secrets', () => {
  const secrets = () =>
    Object.fromEntries(
      ofType(service.resources, 'AWS::SecretsManager::Secret').map(([logicalId, { Properties }]) => [
        render({ Ref: logicalId }),
        Properties,
      ]),
    );
  /** Filled by an operator, or by a function at deploy time. */
  const EMPTY = [
    ...Object.values(PROVIDERS).map(({ label }) => `ProviderSecrets${label}`),
    'DeliverySigningKey',
  ];

  test('are these, and no others', () => {
    expect(Object.keys(secrets()).toSorted()).toEqual([...EMPTY, 'ProviderSecretsCallbacks'].toSorted());
  });

  test.each(EMPTY)('%s starts empty: the template neither holds nor generates a value', (name) => {
    expect(Object.keys(secrets()[name] ?? {})).toEqual(['Description']);
  });

  test('the callback secret is long and generated by AWS', async () => {
    const { Description: _, ...generated } = secrets().ProviderSecretsCallbacks ?? {};

    expect(generated).toEqual({ GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true } });
  });

  test('the signing key is written at deploy time, after its function gets permission', async () => {
    const keyPair = onlyOne(service.resources, 'Custom::DeliveryKeyPair');
    const [policy] = policiesOf(service.resources, roleOf(service, 'events/create-signing-key'));

    expect(render(keyPair.Properties.ServiceToken)).toBe('DeliveryCreateSigningKeyFunction.Arn');
    expect(keyPair.DependsOn).toContain(policy?.id);
  });
});
