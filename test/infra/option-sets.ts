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
};
/** Context of a stack with stand-ins for the providers. */
export const SANDBOX = { providers: 'sandbox', sandboxMaxRunning: '3' };
/** Context of a stack that may go without a trace. */
export const DEVELOPMENT = { removalPolicy: 'destroy', logRetentionDays: '7', accessLogs: 'false' };
