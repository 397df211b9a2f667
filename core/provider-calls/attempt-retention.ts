import { SECONDS_PER_DAY } from '../time.ts';

/**
 * How long operators can see the provider calls of a request. Longer than its record, which by default is
 * kept for 23 h and then 90 days.
 */
export const ATTEMPT_RETENTION_SECONDS = 100 * SECONDS_PER_DAY;
