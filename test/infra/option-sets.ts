import { EVERYTHING_CONFIGURED } from './service-template.ts';

/** A certificate in the stack's region. */
export const API_CERTIFICATE = 'arn:aws:acm:eu-west-1:111122223333:certificate/1a2b';
/** A certificate for CloudFront. */
export const FILES_CERTIFICATE = 'arn:aws:acm:us-east-1:111122223333:certificate/3c4d';
/** A web ACL for CloudFront. */
export const FILES_WEB_ACL =
  'arn:aws:wafv2:us-east-1:111122223333:global/webacl/files/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
/** Context for custom domains. */
export const DOMAINS = {
  apiDomainName: 'api.example.com',
  apiCertificateArn: API_CERTIFICATE,
  filesDomainName: 'files.example.com',
  filesCertificateArn: FILES_CERTIFICATE,
};
/** Every option that changes the template, as a production stack may have them. */
export const PRODUCTION = {
  ...DOMAINS,
  wafRequestsPer5Minutes: '3000',
  filesWebAclArn: FILES_WEB_ACL,
  executionLogs: 'true',
  tracing: 'true',
  logRetentionDays: '365',
  apiRequestsPerSecond: '5000',
  deliveredGigabytesPerHour: '5000',
  apiBurst: '5000',
  console: 'true',
  exportBucket: 'exports.example',
  exportBucketOwner: '444455556666',
  alarmEmail: 'operators@example.com',
  warmThroughput: '10000',
  reservedConcurrency: JSON.stringify({
    'deliver-webhook': 50,
    'dispatch-request': 200,
    'measure-clips': 20,
    'create-openai-image': 100,
    'edit-openai-image': 30,
    ...{ reconcile: 2, 'settle-request': 20, 'fail-request': 10 },
  }),
};
/** Context of a stack with stand-ins for the providers. */
export const SANDBOX = { providers: 'sandbox', sandboxMaxRunning: '3' };
/** Context of a stack that may go without a trace. */
export const DEVELOPMENT = { removalPolicy: 'destroy', logRetentionDays: '7', accessLogs: 'false' };
/** Context of a stack with every optional part at once. */
export const EVERY_OPTION = { ...PRODUCTION, ...EVERYTHING_CONFIGURED, ...SANDBOX };
/** A restored table, which a stack adopts. */
export const ADOPTED_TABLE = 'GenerationService-DataStoreTable-at-20261123T221500Z';
/** The least of each of these options, or what is rarely chosen. No option changes what another does: tests of each share the synthesis. */
export const LEAST = {
  stackName: 'Another',
  tableName: ADOPTED_TABLE,
  removalPolicy: 'destroy',
  openaiSurface: 'false',
  outputTtlSeconds: 1,
  imageDeadlineSeconds: 1,
  reconcileIntervalSeconds: 1,
  signingKeys: '2',
};
/** The most of each of these options, or a value at an edge of what it decides. */
export const MOST = {
  outputTtlSeconds: 86_400,
  imageDeadlineSeconds: 840,
  reconcileIntervalSeconds: 3600,
  signingKeys: '1,2',
};
/** The value next to an edge of each of these options. */
export const NEXT_TO_EDGES = { outputTtlSeconds: 86_401, reconcileIntervalSeconds: 61, signingKeys: '2,1' };
