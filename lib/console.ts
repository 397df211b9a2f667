import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  type IOrigin,
  OriginRequestPolicy,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import { CONSOLE_PATHS, type ConsoleSources, consoleContentPolicy } from '../core/files/pages.ts';
import { pageBehavior } from './public-pages.ts';

/** Props of the console's behaviours. */
export interface ConsoleProps extends ConsoleSources {
  /** The bucket with its pages. */
  origin: IOrigin;
  /** The API, which the console calls at its own address. */
  apiOrigin: IOrigin;
  responseHeadersPolicyName: string;
}

/**
 * The distribution's behaviours for the console's pages and for the API under the same origin, which saves CORS rules
 * for the console. Answers of the API are not cached. The API gets every header of the caller except `Host`.
 */
export const consoleBehaviors = (
  scope: Construct,
  { origin, apiOrigin, responseHeadersPolicyName, ...sources }: ConsoleProps,
): Record<string, BehaviorOptions> => {
  const pages = pageBehavior(scope, 'ConsoleHeaders', {
    origin,
    responseHeadersPolicyName,
    contentPolicy: consoleContentPolicy(sources),
  });
  return {
    ...Object.fromEntries(CONSOLE_PATHS.map((pattern) => [pattern, pages])),
    '/v1/*': {
      origin: apiOrigin,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    },
  };
};
