import { findModel } from '../core/models/catalog.ts';
import type { ModelRoutes } from '../core/provider-calls/model-routes.ts';

/** CloudFront takes certificates of this region only. */
const CLOUDFRONT_CERTIFICATE = /^arn:aws:acm:us-east-1:/;

/** Keys of the context that depend on others. */
interface Related {
  publicBaseUrl?: string | undefined;
  deliveryBaseUrl?: string | undefined;
  apiDomainName?: string | undefined;
  apiCertificateArn?: string | undefined;
  filesDomainName?: string | undefined;
  filesCertificateArn?: string | undefined;
  wafRequestsPer5Minutes?: number | undefined;
  filesWebAclArn?: string | undefined;
  exportBucket?: string | undefined;
  exportBucketOwner?: string | undefined;
}

/** Keys that are valid each but not together, with what is wrong. */
export const contradictionsIn = (given: Related): [key: keyof Related, message: string][] => {
  const found: [keyof Related, string][] = [];
  for (const name of ['api', 'files'] as const) {
    const domain = given[`${name}DomainName`];
    const certificate = given[`${name}CertificateArn`];
    if (domain !== undefined && certificate === undefined) {
      found.push([`${name}CertificateArn`, `${name}DomainName needs a certificate`]);
    }
    if (domain === undefined && certificate !== undefined) {
      found.push([`${name}DomainName`, `${name}CertificateArn needs a domain name`]);
    }
  }
  if (given.filesCertificateArn !== undefined && !CLOUDFRONT_CERTIFICATE.test(given.filesCertificateArn)) {
    found.push(['filesCertificateArn', 'CloudFront takes certificates of us-east-1 only']);
  }
  if (given.apiDomainName !== undefined && given.publicBaseUrl !== undefined) {
    found.push(['publicBaseUrl', 'apiDomainName is the base URL already']);
  }
  if (given.filesDomainName !== undefined && given.deliveryBaseUrl !== undefined) {
    found.push(['deliveryBaseUrl', 'filesDomainName is the base URL already']);
  }
  if (given.wafRequestsPer5Minutes !== undefined && given.filesWebAclArn === undefined) {
    found.push([
      'filesWebAclArn',
      'wafRequestsPer5Minutes limits the API only: CloudFront takes a web ACL of us-east-1 (docs/configuring.md)',
    ]);
  }
  if (given.exportBucketOwner !== undefined && given.exportBucket === undefined) {
    found.push(['exportBucket', 'exportBucketOwner needs a bucket']);
  }
  return found;
};

/** Problems of models that share an upstream model but name different limits: the limits belong to the upstream model. */
const contradictoryLimitsIn = (routes: ModelRoutes): string[] => {
  const limits = new Map<string, string>();
  return Object.entries(routes).flatMap(([model, list]) =>
    list.flatMap(({ provider, upstreamModel, ...own }) => {
      const upstream = `${provider} ${upstreamModel}`;
      const text = JSON.stringify([own.maxRunning ?? null, own.requestsPerSecond ?? null]);
      if ((limits.get(upstream) ?? text) !== text)
        return [`${model} has other limits than another model of ${upstream}`];
      limits.set(upstream, text);
      return [];
    }),
  );
};

/** Models with an upstream model twice in their lists. */
const repeatedRoutesIn = (routes: ModelRoutes): string[] =>
  Object.entries(routes).flatMap(([model, list]) => {
    const upstreams = new Set(list.map(({ provider, upstreamModel }) => `${provider} ${upstreamModel}`));
    return upstreams.size < list.length ? [`${model} names a route twice`] : [];
  });

/** Routes of models that callers cannot name. */
const unknownModelsIn = (routes: ModelRoutes, own: readonly { id: string }[]): string[] => {
  const isKnown = (model: string): boolean =>
    own.some(({ id }) => id === model) || findModel(model) !== undefined;
  const unknown = Object.keys(routes).filter((model) => !isKnown(model));
  return unknown.length === 0 ? [] : [`The catalog has no model ${unknown.join(', ')}`];
};

/** A function's variables have 4 KB in all: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html. The others take some 2,200. */
const MAX_ROUTES_CHARACTERS = 1_700;

/** Routes that the variables of a function have no room for. */
const tooLong = (routes: ModelRoutes): string[] => {
  const { length } = JSON.stringify(routes);
  return length <= MAX_ROUTES_CHARACTERS
    ? []
    : [`All routes together have ${length} characters as JSON, and room for ${MAX_ROUTES_CHARACTERS}`];
};

/** What is wrong with the routes of all models, the operator's own among them. */
export const problemsOfRoutes = (routes: ModelRoutes, own: readonly { id: string }[]): string[] => [
  ...unknownModelsIn(routes, own),
  ...contradictoryLimitsIn(routes),
  ...repeatedRoutesIn(routes),
  ...tooLong(routes),
];
