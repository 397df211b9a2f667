import { listLedgerEntries, renderLedgerEntry } from '../../core/ledger/ledger.ts';
import { mapPage } from '../../core/table/pages.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { PAGE_QUERY } from '../http/queries.ts';

/** GET /v1/balance/history. 200 with a page of ledger entries, newest first. */
export const handler = apiHandler(async (request) => {
  const { accountId, ledgerEntries } = await authorize(identifyCaller(request), 'balance:read', request.now);
  const entries = await listLedgerEntries(accountId, request.query(PAGE_QUERY), ledgerEntries);
  return json(200, mapPage(entries, renderLedgerEntry));
});
