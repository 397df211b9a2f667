import { CustomResource, Duration } from 'aws-cdk-lib';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  HeadersReferrerPolicy,
  type IOrigin,
  type ResponseHeadersCorsBehavior,
  ResponseHeadersPolicy,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { CONSOLE_PAGES, OPENAPI_FILE, PUBLIC_PAGES, PUBLIC_PATHS } from '../core/files/pages.ts';
import { ServiceFunction } from './service-function.ts';

/** How long CloudFormation waits for the pages: longer than their function runs, with its retries. */
const PUBLISH_TIMEOUT = Duration.minutes(5);

/**
 * The content security policy of the pages. They load from their own origin only, apart from the styles and
 * the search worker that Redoc generates. Browsers enforce it; scripts cannot loosen it.
 */
const CONTENT_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Browsers call the distribution by HTTPS only, for two years after each answer. Not its subdomains, which may be someone else's. */
export const HTTPS_ONLY = { accessControlMaxAge: Duration.days(730), override: true } as const;

/** Pages of any origin may read the answers, also parts and their sizes. Who has the URL may read anyway. */
export const READABLE_BY_PAGES: ResponseHeadersCorsBehavior = {
  accessControlAllowOrigins: ['*'],
  accessControlAllowMethods: ['GET', 'HEAD'],
  accessControlAllowHeaders: ['*'],
  accessControlExposeHeaders: ['Content-Length', 'Content-Range', 'ETag'],
  accessControlAllowCredentials: false,
  originOverride: true,
};

/** The distribution's behaviours for the public pages. By path pattern. */
export const publicBehaviors = (
  scope: Construct,
  origin: IOrigin,
  responseHeadersPolicyName: string,
): Record<string, BehaviorOptions> => {
  const policy = { origin, contentPolicy: CONTENT_POLICY };
  const behavior = pageBehavior(scope, 'PageHeaders', { ...policy, responseHeadersPolicyName });
  const document = pageBehavior(scope, 'DocumentHeaders', {
    ...policy,
    responseHeadersPolicyName: `${responseHeadersPolicyName}-document`,
    corsBehavior: READABLE_BY_PAGES,
  });
  return Object.fromEntries(
    PUBLIC_PATHS.map((pattern) => [pattern, pattern === `/${OPENAPI_FILE}` ? document : behavior]),
  );
};

/** Props of a behaviour for pages. */
export interface PageBehaviorProps {
  origin: IOrigin;
  responseHeadersPolicyName: string;
  contentPolicy: string;
  /** Which other pages may read the answers; none by default. */
  corsBehavior?: ResponseHeadersCorsBehavior;
}

/** A behaviour for pages that everyone may read: no signed URL, and a content policy. */
export const pageBehavior = (
  scope: Construct,
  id: string,
  { origin, responseHeadersPolicyName, contentPolicy, corsBehavior }: PageBehaviorProps,
): BehaviorOptions => ({
  origin,
  allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
  viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
  cachePolicy: CachePolicy.CACHING_OPTIMIZED,
  responseHeadersPolicy: new ResponseHeadersPolicy(scope, id, {
    responseHeadersPolicyName,
    comment: 'Pages load nothing from elsewhere',
    ...(corsBehavior && { corsBehavior }),
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy: contentPolicy, override: true },
      contentTypeOptions: { override: true },
      strictTransportSecurity: HTTPS_ONLY,
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
    },
  }),
});

/** Props of the public pages. */
export interface PublicPagesProps {
  bucket: Bucket;
  bundleOf: (name: string) => string;
  /** The address of the API, for the published OpenAPI document. */
  baseUrl: string;
  /** Whether the console is published too. */
  hasConsole: boolean;
}

/** The OpenAPI document, the reference page and the console in the bucket, put there whenever they change. */
export class PublicPages extends Construct {
  constructor(scope: Construct, id: string, { bucket, bundleOf, baseUrl, hasConsole }: PublicPagesProps) {
    super(scope, id);
    const publish = new ServiceFunction(this, 'Publish', {
      bundle: bundleOf('events/publish-pages'),
      description: 'Puts the reference of the API into the bucket at deploy time',
      timeout: Duration.seconds(60),
    });
    publish.addEnvironment({ BUCKET_NAME: bucket.bucketName });
    publish.allow(
      ['s3:PutObject'],
      [...PUBLIC_PAGES, ...(hasConsole ? CONSOLE_PAGES : [])].map(({ key }) => bucket.arnForObjects(key)),
    );
    const { lambda } = publish;
    const { code } = lambda.node.defaultChild as CfnFunction;
    const pages = new CustomResource(this, 'Pages', {
      resourceType: 'Custom::PublicPages',
      serviceToken: lambda.functionArn,
      serviceTimeout: PUBLISH_TIMEOUT,
      // The pages are in the function's bundle: another bundle, and they are put again.
      properties: {
        BaseUrl: baseUrl,
        Bundle: (code as CfnFunction.CodeProperty).s3Key,
        ...(hasConsole && { Console: 'true' }),
      },
    });
    pages.node.addDependency(lambda.role ?? lambda);
  }
}
