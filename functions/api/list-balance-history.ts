import { getAccount } from '../../core/accounts/accounts.ts';
import { listLedgerEntries, renderLedgerEntry } from '../../core/ledger/ledger.ts';
import { mapPage } from '../../core/table/pages.ts';
import { apiHandler } from '../http/api-handler.ts';
import { type ApiRequest, PAGE_QUERY } from '../http/api-request.ts';
import { authorize, authorizedFirst, identifyCaller } from '../http/authorize.ts';
import { json } from '../http/responses.ts';

const load = async (request: ApiRequest, accountId: string) =>
  listLedgerEntries(
    accountId,
    request.query(PAGE_QUERY),
    async () => (await getAccount(accountId)).ledgerEntries,
  );

/** GET /v1/balance/history. 200 with a page of ledger entries, newest first. */
export const handler = apiHandler(async (request) => {
  const caller = identifyCaller(request);
  const [, entries] = await authorizedFirst(
    authorize(caller, 'balance:read', request.now),
    load(request, caller.accountId),
  );
  return json(200, mapPage(entries, renderLedgerEntry));
});
