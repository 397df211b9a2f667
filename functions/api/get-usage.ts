import { systemClock } from '../../core/clock.ts';
import { accountLimit, withinLimits } from '../../core/concurrency/in-flight.ts';
import { ServiceError } from '../../core/errors.ts';
import { renderUsage } from '../../core/ledger/render-usage.ts';
import { usageOf } from '../../core/ledger/usage.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { readUsageQuery } from '../http/queries.ts';
import { json } from '../http/responses.ts';

/**
 * Entries: some 100 MB, which one partition of DynamoDB yields in 9 s of the 29. Groups: some 2 MB, of the 6 MB that a function may
 * answer. End-users: some 35 MB.
 */
const LIMITS = { entries: 200_000, groups: 10_000, endUsers: 100_000 };

/** Entries up to which a read costs less than limiting it would. */
const SMALL_LEDGER = 5_000;
/** Longer than the function runs. */
const LEASE_SECONDS = 35;
/** A read takes some seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * GET /v1/usage. 200 with the sums of debits and refunds between two dates; 400 also where they are too many for one answer; 429 also
 * while another read of a large ledger is under way: one at a time bounds what an account's reads cost.
 */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'balance:read', request.now);
  const asked = readUsageQuery(request);
  const read = async () => json(200, renderUsage(await usageOf(account, asked, LIMITS), asked));
  if (account.ledgerEntries <= SMALL_LEDGER) return read();
  const limit = accountLimit('usage', account.accountId, { places: 1, leaseSeconds: LEASE_SECONDS });
  const within = await withinLimits([limit], systemClock, read);
  if (within.ran) return within.result;
  throw new ServiceError('rate_limited', 'Usage is being read for this account already.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
});
