import { accountLimit, tooManyAtOnce, withSlots } from '../concurrency/in-flight.ts';
import { systemClock } from '../time.ts';

/** Longer than an API function runs. */
const LEASE_SECONDS = 35;
/** A read takes some seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Reads much of an account, one such read at a time, to bound its cost. Throws `ServiceError` with `rate_limited` while there is another. */
export const largeRead = <T>(accountId: string, read: () => Promise<T>): Promise<T> =>
  withSlots(
    [accountLimit('usage', accountId, { slots: 1, leaseSeconds: LEASE_SECONDS })],
    systemClock,
    () => tooManyAtOnce('Usage is being read for this account already.', RETRY_AFTER_SECONDS),
    read,
  );
