import { largeRead } from '../../core/ledger/large-reads.ts';
import { renderUsage, usageOf } from '../../core/ledger/usage.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { readUsageQuery } from '../http/queries.ts';

/**
 * Entries: some 100 MB, which one partition of DynamoDB yields in 9 s of the 29. Groups: some 2 MB, of the 6 MB that a function may
 * answer. End-users: some 35 MB.
 */
const LIMITS = { entries: 200_000, groups: 10_000, endUsers: 100_000 };

/** Entries up to which a read costs less than limiting it would. */
const SMALL_LEDGER = 5_000;

/**
 * GET /v1/usage. 200 with the sums of debits and refunds between two dates; 400, 429. Too much for one answer is 400. An account reads a large
 * ledger once at a time, to bound its cost: another read is 429.
 */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'balance:read', request.now);
  const asked = readUsageQuery(request);
  const read = async () => json(200, renderUsage(await usageOf(account, asked, LIMITS), asked));
  return account.ledgerEntries <= SMALL_LEDGER ? read() : largeRead(account.accountId, read);
});
