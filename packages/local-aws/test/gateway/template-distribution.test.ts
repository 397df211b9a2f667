import { describe, expect, test } from '@jest/globals';
import { distributionSpec } from '../../src/template/distribution.ts';
import { createResolver } from '../../src/template/resolver.ts';

describe('a distribution', () => {
  // "CachingDisabled", with which CloudFront compresses nothing.
  const CachePolicyId = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
  const spec = (SecurityHeadersConfig: Record<string, unknown>, originOfPages = 'Bucket') =>
    distributionSpec(
      createResolver(
        {
          Resources: {
            Bucket: { Type: 'AWS::S3::Bucket', Properties: {} },
            Rest: { Type: 'AWS::ApiGateway::RestApi', Properties: {} },
            Headers: {
              Type: 'AWS::CloudFront::ResponseHeadersPolicy',
              Properties: { ResponseHeadersPolicyConfig: { Name: 'headers', SecurityHeadersConfig } },
            },
            Distribution: {
              Type: 'AWS::CloudFront::Distribution',
              Properties: {
                DistributionConfig: {
                  DefaultCacheBehavior: { TargetOriginId: 'Bucket', TrustedKeyGroups: [] },
                  DefaultRootObject: 'docs',
                  CacheBehaviors: [
                    {
                      PathPattern: '/docs/*',
                      TargetOriginId: originOfPages,
                      ResponseHeadersPolicyId: { Ref: 'Headers' },
                      Compress: true,
                    },
                    { PathPattern: '/uncached/*', TargetOriginId: 'Bucket', Compress: true, CachePolicyId },
                    { PathPattern: '/v1/*', TargetOriginId: 'Api' },
                  ],
                  Origins: [
                    { Id: 'Bucket', DomainName: { 'Fn::GetAtt': ['Bucket', 'RegionalDomainName'] } },
                    { Id: 'Elsewhere', DomainName: 'example.com' },
                    {
                      ...{ Id: 'Part', OriginPath: '/docs' },
                      DomainName: { 'Fn::GetAtt': ['Bucket', 'RegionalDomainName'] },
                    },
                    {
                      Id: 'Api',
                      DomainName: {
                        'Fn::Join': [
                          '',
                          [
                            { Ref: 'Rest' },
                            '.execute-api.',
                            { Ref: 'AWS::Region' },
                            '.',
                            { Ref: 'AWS::URLSuffix' },
                          ],
                        ],
                      },
                    },
                  ],
                },
              },
            },
          },
        },
        'Shop',
        new Map(),
      ),
    );

  test('has the behaviours of paths in order, each with the headers of its policy, without those of the own API', () => {
    const headers = {
      ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'self'", Override: true },
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
    };

    const { paths, responseHeaders, trustedKeys, rootObject } = spec(headers) ?? {};

    expect(rootObject).toBe('docs');

    expect(trustedKeys).toEqual(new Map());
    expect(responseHeaders).toBeUndefined();
    expect(paths).toEqual([
      {
        pathPattern: '/docs/*',
        bucketName: expect.any(String),
        responseHeaders: {
          'Content-Security-Policy': "default-src 'self'",
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
        },
        compresses: true,
      },
      { pathPattern: '/uncached/*', bucketName: expect.any(String) },
    ]);
  });

  test('with a header or an origin that the local run does not know ends the start', () => {
    expect(() => spec({ FrameOptions: { FrameOption: 'DENY' } })).toThrow(/FrameOptions is not known/);
    for (const origin of ['Elsewhere', 'Part']) {
      expect(() => spec({}, origin)).toThrow(`the origin ${origin} is not a whole bucket`);
    }
  });
});
