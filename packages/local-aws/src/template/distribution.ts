import { TemplateError } from './assembly.ts';
import { REGION, URL_SUFFIX } from './attributes.ts';
import type { Resolver } from './resolver.ts';

/** A CloudFront distribution in front of a bucket. */
export interface DistributionSpec {
  bucketName: string;
  /** Precedes the request's path in the object key; without leading or trailing slashes. */
  originPath: string;
  /** Trusted public keys (PEM) by key pair id. Undefined: URLs need no signature. */
  trustedKeys?: ReadonlyMap<string, string>;
  /** Headers that the distribution's policy adds to every answer. */
  responseHeaders?: Record<string, string>;
}

interface DistributionConfig {
  DefaultCacheBehavior: {
    TargetOriginId: string;
    TrustedKeyGroups?: string[];
    ResponseHeadersPolicyId?: string;
  };
  Origins: { Id: string; DomainName: string; OriginPath?: string }[];
}

/** The headers of a response headers policy of the stack. Throws `TemplateError` for any but `X-Content-Type-Options`. */
const responseHeadersOf = (resolver: Resolver, policyId: string): Record<string, string> => {
  const policy = resolver
    .resources('AWS::CloudFront::ResponseHeadersPolicy')
    .find(({ logicalId }) => resolver.reference(logicalId) === policyId);
  if (!policy) throw new TemplateError(`The response headers policy ${policyId} is not in this stack`);
  const config = resolver.resolve(policy.properties.ResponseHeadersPolicyConfig) as Record<
    string,
    Record<string, unknown>
  >;
  const { Name: _name, Comment: _comment, SecurityHeadersConfig = {}, ...others } = config;
  const unknown = [...Object.keys(others), ...Object.keys(SecurityHeadersConfig)].find(
    (name) => name !== 'ContentTypeOptions',
  );
  if (unknown) throw new TemplateError(`${policy.logicalId}: ${unknown} is not known to the local run`);
  return 'ContentTypeOptions' in SecurityHeadersConfig ? { 'X-Content-Type-Options': 'nosniff' } : {};
};

/**
 * The stack's distribution; undefined when it has none. Public keys may come from a custom resource, so call it after those were created.
 * Throws `TemplateError` unless the default origin is a bucket of the stack.
 */
export const distributionSpec = (resolver: Resolver): DistributionSpec | undefined => {
  const [distribution] = resolver.resources('AWS::CloudFront::Distribution');
  if (!distribution) return undefined;
  const config = resolver.resolve(distribution.properties.DistributionConfig) as DistributionConfig;
  const { TargetOriginId, TrustedKeyGroups, ResponseHeadersPolicyId } = config.DefaultCacheBehavior;

  const origin = config.Origins.find(({ Id }) => Id === TargetOriginId);
  const suffix = `.s3.${REGION}.${URL_SUFFIX}`;
  if (!origin?.DomainName.endsWith(suffix)) {
    throw new TemplateError(`${distribution.logicalId}: its default origin is not a bucket of this stack`);
  }

  const trustedKeyIds = resolver
    .resources('AWS::CloudFront::KeyGroup')
    .filter(({ logicalId }) => TrustedKeyGroups?.includes(resolver.reference(logicalId)))
    .flatMap(({ properties }) => (resolver.resolve(properties.KeyGroupConfig) as { Items: string[] }).Items);
  const trustedKeys = resolver
    .resources('AWS::CloudFront::PublicKey')
    .filter(({ logicalId }) => trustedKeyIds.includes(resolver.reference(logicalId)))
    .map(({ logicalId, properties }) => {
      const { EncodedKey } = resolver.resolve(properties.PublicKeyConfig) as { EncodedKey: string };
      return [resolver.reference(logicalId), EncodedKey] as const;
    });

  return {
    bucketName: origin.DomainName.slice(0, -suffix.length),
    originPath: (origin.OriginPath ?? '').replace(/^\/+|\/+$/g, ''),
    ...(ResponseHeadersPolicyId !== undefined && {
      responseHeaders: responseHeadersOf(resolver, ResponseHeadersPolicyId),
    }),
    ...(TrustedKeyGroups && { trustedKeys: new Map(trustedKeys) }),
  };
};
