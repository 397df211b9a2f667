import { type Account, getAccount, listAccounts } from '../core/accounts/accounts.ts';
import { NotFoundError } from '../core/errors.ts';
import { listStoredFiles, type StoredFile } from '../core/files/stored-files.ts';
import type { LedgerEntry } from '../core/ledger/ledger.ts';
import { listEntriesOfRequest } from '../core/ledger/ledger-entries.ts';
import { listAttempts, type ProviderAttempt } from '../core/provider-calls/provider-attempts.ts';
import { findProviderWait, type ProviderWait } from '../core/provider-calls/provider-waits.ts';
import { isRemoved, type StoredRequest } from '../core/requests/request-rules.ts';
import { findRequest } from '../core/requests/requests.ts';
import { batchGetAll } from '../core/table/batches.ts';
import { deletedRequestKey } from '../core/table/keys.ts';
import { listWebhookAttempts, type WebhookAttempt } from '../core/webhooks/webhook-attempts.ts';
import { type ExecutionHistory, findExecutionHistory } from '../core/workflow/execution-history.ts';

/** Everything stored about a request. */
export interface RequestReport {
  request: StoredRequest;
  account: Account;
  entries: LedgerEntry[];
  executions: ExecutionHistory[];
  attempts: ProviderAttempt[];
  wait: ProviderWait | undefined;
  webhooks: WebhookAttempt[];
  /** The files in the bucket. Those that should be there are in the record. */
  files: StoredFile[];
}

/** A request that is within its retention at `now`. Throws `NotFoundError`, which says whether it was deleted, and when. */
export const getReadableRequest = async (requestId: string, now: Date): Promise<StoredRequest> => {
  const request = await findRequest(requestId);
  if (!request) throw new NotFoundError(await describeAbsence(requestId));
  if (isRemoved(request, now)) {
    throw new NotFoundError(`There is no request ${requestId} any more: it is past its retention.`);
  }
  return request;
};

/** Why a request is not there. The mark of a deleted one is under its account, which its id does not tell: all are asked. */
const describeAbsence = async (requestId: string): Promise<string> => {
  const accounts = await listAccounts();
  const marks = await batchGetAll(accounts.map(({ accountId }) => deletedRequestKey(accountId, requestId)));
  const index = marks.findIndex((mark) => mark !== undefined);
  return index < 0
    ? `There is no request ${requestId}.`
    : `Request ${requestId} of account ${accounts[index]?.accountId} was deleted at ${marks[index]?.deletedAt}.`;
};

/**
 * Loads everything stored about a request. Expiry executions that the reconciler started to replace a stopped
 * one are missing: their names are not recorded. Throws `NotFoundError`.
 */
export const loadRequestReport = async (requestId: string, now: Date): Promise<RequestReport> => {
  const request = await getReadableRequest(requestId, now);
  const [account, webhooks] = await Promise.all([
    getAccount(request.accountId),
    listWebhookAttempts(requestId),
  ]);
  const deliveries = new Set([requestId, ...webhooks.map(({ delivery }) => delivery)]);
  const [entries, executions, attempts, wait, files] = await Promise.all([
    listEntriesOfRequest(account, request),
    Promise.all([
      findExecutionHistory('generation', requestId),
      findExecutionHistory('expiry', requestId),
      ...[...deliveries].map((delivery) => findExecutionHistory('webhook-delivery', delivery)),
    ]),
    listAttempts(requestId),
    findProviderWait(requestId),
    listStoredFiles(request),
  ]);
  const known = executions.filter((execution) => execution !== undefined);
  return { request, account, entries, executions: known, attempts, wait, webhooks, files };
};
