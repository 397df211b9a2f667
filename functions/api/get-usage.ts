import { renderUsage } from '../../core/ledger/render-usage.ts';
import { usageOf } from '../../core/ledger/usage.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { readUsageQuery } from '../http/queries.ts';
import { json } from '../http/responses.ts';

/**
 * 200,000 entries are some 100 MB, and one partition of DynamoDB yields 12 MB a second: 9 s of the 29. 10,000 groups are some 2 MB of the 6 MB
 * that a function may answer. 100,000 end-users are some 35 MB.
 */
const LIMITS = { entries: 200_000, groups: 10_000, endUsers: 100_000 };

/** GET /v1/usage. 200 with the sums of debits and refunds between two dates; 400 also where they are too many for one answer. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'balance:read', request.now);
  const asked = readUsageQuery(request);
  return json(200, renderUsage(await usageOf(account, asked, LIMITS), asked));
});
