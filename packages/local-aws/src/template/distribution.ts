import { TemplateError } from './assembly.ts';
import { REGION, URL_SUFFIX } from './attributes.ts';
import type { Resolver } from './resolver.ts';

/** One behaviour of a distribution: the bucket behind it, and who may read it. */
export interface BehaviorSpec {
  bucketName: string;
  /** Trusted public keys (PEM) by key pair id. Undefined: URLs need no signature. */
  trustedKeys?: ReadonlyMap<string, string>;
  /** Headers that the distribution's policy adds to every answer. */
  responseHeaders?: Record<string, string>;
  /** Headers that the behaviour adds to answers for web pages of other origins. */
  corsHeaders?: Record<string, string>;
  /** Whether answers are compressed for clients that take it. */
  compresses?: boolean;
}

/**
 * A CloudFront distribution in front of buckets: its default behaviour, and others for some paths, in order. Paths that lead to the
 * stack's own API are not among them: the API is at the same address anyway.
 */
export interface DistributionSpec extends BehaviorSpec {
  /** With patterns such as `/docs/*`. */
  paths?: readonly (BehaviorSpec & { pathPattern: string })[];
  /** The key of the object at `/`. */
  rootObject?: string;
}

interface CacheBehavior {
  TargetOriginId: string;
  TrustedKeyGroups?: string[];
  ResponseHeadersPolicyId?: string;
  Compress?: boolean;
  CachePolicyId?: string;
}

/** AWS's managed policy "CachingDisabled", with which nothing is compressed: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html */
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';

interface DistributionConfig {
  DefaultCacheBehavior: CacheBehavior;
  DefaultRootObject?: string;
  CacheBehaviors?: (CacheBehavior & { PathPattern: string })[];
  Origins: { Id: string; DomainName: string; OriginPath?: string }[];
}

/** The security headers that are known, by their name in the template. */
const SECURITY_HEADERS: Record<string, (config: Record<string, unknown>) => [name: string, value: string]> = {
  ContentTypeOptions: () => ['X-Content-Type-Options', 'nosniff'],
  ContentSecurityPolicy: (config) => ['Content-Security-Policy', String(config.ContentSecurityPolicy)],
  ReferrerPolicy: (config) => ['Referrer-Policy', String(config.ReferrerPolicy)],
  StrictTransportSecurity: (config) => [
    'Strict-Transport-Security',
    [
      `max-age=${config.AccessControlMaxAgeSec}`,
      ...(config.IncludeSubdomains ? ['includeSubDomains'] : []),
      ...(config.Preload ? ['preload'] : []),
    ].join('; '),
  ],
};

/** The headers of a response headers policy of the stack. Throws `TemplateError` for one that is not known. */
const responseHeadersOf = (
  resolver: Resolver,
  policyId: string,
): Pick<BehaviorSpec, 'responseHeaders' | 'corsHeaders'> => {
  const policy = resolver
    .resources('AWS::CloudFront::ResponseHeadersPolicy')
    .find(({ logicalId }) => resolver.reference(logicalId) === policyId);
  if (!policy) throw new TemplateError(`The response headers policy ${policyId} is not in this stack`);
  const config = resolver.resolve(policy.properties.ResponseHeadersPolicyConfig) as Record<
    string,
    Record<string, unknown>
  >;
  const { Name: _name, Comment: _comment, SecurityHeadersConfig = {}, CorsConfig, ...others } = config;
  const unknown = (name: string) =>
    new TemplateError(`${policy.logicalId}: ${name} is not known to the local run`);
  const [other] = Object.keys(others);
  if (other) throw unknown(other);
  const responseHeaders = Object.fromEntries(
    Object.entries(SecurityHeadersConfig).map(([name, header]) => {
      const known = SECURITY_HEADERS[name];
      if (!known) throw unknown(name);
      return known(header as Record<string, unknown>);
    }),
  );
  return { responseHeaders, ...(CorsConfig && { corsHeaders: corsHeadersOf(CorsConfig, unknown) }) };
};

/** The headers for pages of any origin. A policy for some origins, or with credentials, is not known. */
const corsHeadersOf = (
  config: Record<string, unknown>,
  unknown: (name: string) => TemplateError,
): Record<string, string> => {
  const itemsOf = (name: string): string[] => (config[name] as { Items: string[] } | undefined)?.Items ?? [];
  if (itemsOf('AccessControlAllowOrigins').join() !== '*') throw unknown('AccessControlAllowOrigins');
  if (config.AccessControlAllowCredentials) throw unknown('AccessControlAllowCredentials');
  const exposed = itemsOf('AccessControlExposeHeaders');
  return {
    'Access-Control-Allow-Origin': '*',
    ...(exposed.length > 0 && { 'Access-Control-Expose-Headers': exposed.join(', ') }),
  };
};

/**
 * The stack's distribution; undefined when it has none. Public keys may come from a custom resource, so call it after those were created.
 * Throws `TemplateError` unless every origin in use is a bucket of the stack.
 */
export const distributionSpec = (resolver: Resolver): DistributionSpec | undefined => {
  const [distribution] = resolver.resources('AWS::CloudFront::Distribution');
  if (!distribution) return undefined;
  const config = resolver.resolve(distribution.properties.DistributionConfig) as DistributionConfig;
  const behavior = (of: CacheBehavior) => behaviorSpec(resolver, distribution.logicalId, config, of);
  return {
    ...behavior(config.DefaultCacheBehavior),
    ...(config.DefaultRootObject && { rootObject: config.DefaultRootObject }),
    ...(config.CacheBehaviors && {
      paths: config.CacheBehaviors.filter(
        ({ TargetOriginId }) => !isOwnApi(resolver, config, TargetOriginId),
      ).map((of) => ({ ...behavior(of), pathPattern: of.PathPattern })),
    }),
  };
};

/** Whether an origin is a REST API of the stack. */
const isOwnApi = (resolver: Resolver, { Origins }: DistributionConfig, originId: string): boolean => {
  const domainName = Origins.find(({ Id }) => Id === originId)?.DomainName;
  return resolver
    .resources('AWS::ApiGateway::RestApi')
    .some(
      ({ logicalId }) =>
        domainName === `${resolver.reference(logicalId)}.execute-api.${REGION}.${URL_SUFFIX}`,
    );
};

const behaviorSpec = (
  resolver: Resolver,
  logicalId: string,
  config: DistributionConfig,
  { TargetOriginId, TrustedKeyGroups, ResponseHeadersPolicyId, Compress, CachePolicyId }: CacheBehavior,
): BehaviorSpec => {
  const origin = config.Origins.find(({ Id }) => Id === TargetOriginId);
  const suffix = `.s3.${REGION}.${URL_SUFFIX}`;
  if (!origin?.DomainName.endsWith(suffix) || origin.OriginPath) {
    throw new TemplateError(`${logicalId}: the origin ${TargetOriginId} is not a whole bucket of this stack`);
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
    ...(ResponseHeadersPolicyId !== undefined && responseHeadersOf(resolver, ResponseHeadersPolicyId)),
    ...(Compress && CachePolicyId !== CACHING_DISABLED && { compresses: true }),
    ...(TrustedKeyGroups && { trustedKeys: new Map(trustedKeys) }),
  };
};
