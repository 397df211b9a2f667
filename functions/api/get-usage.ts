import { renderUsage } from '../../core/ledger/render-usage.ts';
import { usageOf } from '../../core/ledger/usage.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { readUsageQuery } from '../http/queries.ts';
import { json } from '../http/responses.ts';

/** An answer of 10,000 groups is some 2 MB of the 6 MB that a function may answer; 300,000 entries take some 10 s of the 29. */
const LIMITS = { entries: 300_000, groups: 10_000, endUsers: 100_000 };

/** GET /v1/usage. 200 with the sums of debits and refunds between two dates; 400 also where they are too many for one answer. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'balance:read', request.now);
  const asked = readUsageQuery(request);
  return json(200, renderUsage(await usageOf(account, asked, LIMITS), asked));
});
