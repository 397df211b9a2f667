import { describe, expect, test } from '@jest/globals';
import { CONSOLE_PAGES } from '../../core/files/pages.ts';
import { PRODUCTION } from './option-sets.ts';
import { onlyOne, policiesOf, type Resource, render, synthesizeService } from './service-template.ts';

/** AWS's managed policies: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html */
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
/** And of requests to origins: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html */
const ALL_VIEWER_EXCEPT_HOST_HEADER = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

const plain = await synthesizeService();
const withConsole = await synthesizeService(PRODUCTION);

const distributionOf = ({ resources }: typeof plain): Resource['Properties'] =>
  onlyOne(resources, 'AWS::CloudFront::Distribution').Properties.DistributionConfig;
const behaviorOf = (path: string): Resource['Properties'] =>
  distributionOf(withConsole).CacheBehaviors.find(
    ({ PathPattern }: { PathPattern: string }) => PathPattern === path,
  );

describe('without -c console=true', () => {
  test('the distribution leads nowhere else, no page of the console is published, and there is no address of it', () => {
    const paths = distributionOf(plain).CacheBehaviors.map(
      ({ PathPattern }: Resource['Properties']) => PathPattern,
    );
    const pages = onlyOne(plain.resources, 'Custom::PublicPages').Properties;

    expect(paths).toEqual(['/', '/openapi.json', '/docs', '/docs/*']);
    expect(distributionOf(plain).DefaultRootObject).toBe('docs');
    expect(distributionOf(plain).Origins).toHaveLength(1);
    expect(pages).not.toHaveProperty('Console');
    expect(plain.outputs).not.toHaveProperty('ConsoleUrl');
  });
});

describe('with -c console=true', () => {
  test('its pages are read by everyone over HTTPS, from the bucket, where they are published', () => {
    expect(distributionOf(withConsole).DefaultRootObject).toBe('console');
    for (const path of ['/', '/console', '/console/*']) {
      expect(behaviorOf(path)).toMatchObject({
        AllowedMethods: ['GET', 'HEAD'],
        ViewerProtocolPolicy: 'redirect-to-https',
        Compress: true,
        TargetOriginId: distributionOf(withConsole).DefaultCacheBehavior.TargetOriginId,
      });
      expect(behaviorOf(path).TrustedKeyGroups).toBeUndefined();
    }
    expect(onlyOne(withConsole.resources, 'Custom::PublicPages').Properties.Console).toBe('true');
    const publishes = policiesOf(withConsole.resources)
      .flatMap(({ statements }) => statements.filter(({ Action }) => Action === 's3:PutObject'))
      .flatMap(({ Resource: on }) => [on].flat().map(render));
    for (const { key } of CONSOLE_PAGES) {
      expect(publishes).toContain(`DataStoreOutputs.Arn/${key}`);
    }
  });

  test('the API answers beside it, over HTTPS, with the header of the key, and is not cached', () => {
    const { Origins } = distributionOf(withConsole);
    const origin = Origins.find(({ Id }: { Id: string }) => Id === behaviorOf('/v1/*').TargetOriginId);

    expect(behaviorOf('/v1/*')).toMatchObject({
      AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      ViewerProtocolPolicy: 'https-only',
      CachePolicyId: CACHING_DISABLED,
      OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST_HEADER,
    });
    // Neither signed URLs, which are for files, nor headers of another origin.
    expect(behaviorOf('/v1/*').TrustedKeyGroups).toBeUndefined();
    expect(behaviorOf('/v1/*').ResponseHeadersPolicyId).toBeUndefined();
    expect(render(origin.DomainName)).toBe('HttpApiRestApi.execute-api.AWS::Region.AWS::URLSuffix');
    expect(origin).toMatchObject({
      OriginPath: '/prod',
      CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] },
    });
  });

  test('its content policy lets in nothing from elsewhere but files of their own domain, and sends nothing but uploads', () => {
    const { ResponseHeadersPolicyId } = behaviorOf('/console');
    const policy = withConsole.resources[ResponseHeadersPolicyId.Ref]?.Properties.ResponseHeadersPolicyConfig;
    const { ContentSecurityPolicy, ...others } = policy.SecurityHeadersConfig;

    expect(render(ContentSecurityPolicy.ContentSecurityPolicy).split('; ')).toEqual([
      "default-src 'self'",
      "img-src 'self' data: blob: https://files.example.com",
      "media-src 'self' blob: https://files.example.com",
      "connect-src 'self' https://files.example.com https://DataStoreOutputs.RegionalDomainName",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(others).toEqual({
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { Override: true, ReferrerPolicy: 'no-referrer' },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 63_072_000, Override: true },
    });
  });

  test('has its address among the outputs', () => {
    expect((withConsole.outputs.ConsoleUrl as { Value?: unknown }).Value).toBe(
      'https://files.example.com/console',
    );
  });
});
