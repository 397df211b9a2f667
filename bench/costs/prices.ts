/**
 * Prices in dollars, of us-east-1, as of 2026-11, without free tiers and discounts. Sources: aws.amazon.com/lambda/pricing (arm64),
 * /api-gateway/pricing (REST), /step-functions/pricing (standard), /dynamodb/pricing/on-demand, /s3/pricing,
 * /cloudwatch/pricing.
 */
export const PRICES = {
  lambdaGigabyteSecond: 0.0000133334,
  lambdaRequest: 0.2 / 1e6,
  apiCall: 3.5 / 1e6,
  transition: 25 / 1e6,
  writeUnit: 0.625 / 1e6,
  readUnit: 0.125 / 1e6,
  bucketWrite: 5 / 1e6,
  bucketRead: 0.4 / 1e6,
  logGigabyte: 0.5,
} as const;
