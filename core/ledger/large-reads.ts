import { accountLimit, tooManyAtOnce, withSlots } from '../concurrency/in-flight.ts';
import { systemClock } from '../time.ts';

/** Longer than an API function runs. */
const LEASE_SECONDS = 35;
/** A read takes some seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Makes a large read of an account, one at a time, to bound the cost. Throws `ServiceError` with `rate_limited` while another
 * large read is under way.
 */
export const largeRead = <T>(accountId: string, read: () => Promise<T>): Promise<T> =>
  withSlots(
    [accountLimit('usage', accountId, { slots: 1, leaseSeconds: LEASE_SECONDS })],
    systemClock,
    () => tooManyAtOnce('Usage is being read for this account already.', RETRY_AFTER_SECONDS),
    read,
  );
