/**
 * Prices in dollars, of us-east-1, without free tiers and volume discounts, and the page of each; read in 2026-11. Removals from S3 and
 * DynamoDB's removal by TTL are free, and so are EventBridge's schedules and the events of Step Functions.
 */
export const PRICES = {
  /** https://aws.amazon.com/lambda/pricing/, arm64. */
  lambdaGigabyteSecond: 0.0000133334,
  lambdaRequest: 0.2 / 1e6,
  /** https://aws.amazon.com/api-gateway/pricing/, REST, first 333 million calls a month. */
  apiCall: 3.5 / 1e6,
  /** https://aws.amazon.com/step-functions/pricing/, Standard: each entered state, each retry. */
  transition: 25 / 1e6,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/, Standard table class. */
  writeUnit: 0.625 / 1e6,
  readUnit: 0.125 / 1e6,
  /** https://aws.amazon.com/s3/pricing/, Standard: PUT and the calls of an upload; GET. */
  bucketWrite: 5 / 1e6,
  bucketRead: 0.4 / 1e6,
  /** https://aws.amazon.com/secrets-manager/pricing/ */
  secretRead: 0.05 / 1e4,
  /** https://aws.amazon.com/cloudwatch/pricing/, collection into the Standard log class, first 10 TB a month. */
  logGigabyte: 0.5,
} as const;
