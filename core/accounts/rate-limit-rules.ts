import type { RequestLimits } from './accounts.ts';

/** The constants of a token bucket, in milliseconds (see `ApiKey`). */
export interface BucketConstants {
  intervalMs: number;
  spareMs: number;
}

/** The bucket constants for an account's limits. */
export const bucketOf = ({ requestsPerSecond, burst }: RequestLimits): BucketConstants => {
  const intervalMs = 1000 / requestsPerSecond;
  return { intervalMs, spareMs: (burst - 2) * intervalMs };
};
