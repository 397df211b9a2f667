import { type Account, getAccount, listAccounts } from '../core/accounts/accounts.ts';
import { listWebhookAttempts, type WebhookAttempt } from '../core/deliveries/webhook-attempts.ts';
import { requiredEnv, requiredNumberEnv } from '../core/environment.ts';
import { NotFoundError } from '../core/errors.ts';
import { listStoredFiles, type StoredFile } from '../core/files/request-files.ts';
import type { RequestKind } from '../core/ids.ts';
import type { LedgerEntry } from '../core/ledger/ledger.ts';
import { findLedgerEntries } from '../core/ledger/ledger-entries.ts';
import { listAttempts, type ProviderAttempt } from '../core/provider-calls/provider-attempts.ts';
import { findProviderWait, type ProviderWait } from '../core/provider-calls/provider-waits.ts';
import { findDeletionMarks } from '../core/requests/deleted-requests.ts';
import { entryNumbersOf, isRemoved, type StoredRequest } from '../core/requests/request-rules.ts';
import { findRequest } from '../core/requests/requests.ts';
import { type ExecutionHistory, findExecutionHistory } from './execution-history.ts';
import { findOutlook } from './request-outlook.ts';
import type { Outlook } from './story-span.ts';

/** The service's settings that say when something comes next. */
interface Timings {
  deadlineSeconds: Record<RequestKind, number>;
  /** Pauses after each failed attempt of a webhook delivery. */
  webhookRetrySeconds: number[];
}

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
  timings: Timings;
  /** How it goes on; absent once the request has ended. */
  outlook?: Outlook | undefined;
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

/** Why a request is absent. Deletions are stored by account, which an id does not say, so all accounts are read. */
const describeAbsence = async (requestId: string): Promise<string> => {
  const accounts = await listAccounts();
  const marks = await findDeletionMarks(accounts.map(({ accountId }) => ({ accountId, requestId })));
  const mark = marks.find((found) => found !== undefined);
  return mark === undefined
    ? `There is no request ${requestId}.`
    : `Request ${requestId} of account ${mark.accountId} was deleted at ${mark.deletedAt}.`;
};

/** Loads everything stored about a request. Throws `NotFoundError`. */
export const loadRequestReport = async (requestId: string, now: Date): Promise<RequestReport> => {
  const request = await getReadableRequest(requestId, now);
  const [account, webhooks] = await Promise.all([
    getAccount(request.accountId),
    listWebhookAttempts(requestId),
  ]);
  const deliveries = new Set([requestId, ...webhooks.map(({ delivery }) => delivery)]);
  const [entries, executions, attempts, wait, files, outlook] = await Promise.all([
    findLedgerEntries(request.accountId, entryNumbersOf(request)),
    Promise.all([
      findExecutionHistory('generation', requestId),
      ...[...deliveries].map((delivery) => findExecutionHistory('webhook-delivery', delivery)),
    ]),
    listAttempts(requestId),
    findProviderWait(requestId),
    listStoredFiles(request),
    findOutlook(request, now),
  ]);
  const known = executions.filter((execution) => execution !== undefined);
  return {
    request,
    account,
    entries,
    executions: known,
    attempts,
    wait,
    webhooks,
    files,
    timings: readTimings(),
    outlook,
  };
};

const readTimings = (): Timings => ({
  deadlineSeconds: {
    image: requiredNumberEnv('IMAGE_DEADLINE_SECONDS'),
    video: requiredNumberEnv('VIDEO_DEADLINE_SECONDS'),
  },
  webhookRetrySeconds: requiredEnv('WEBHOOK_RETRY_SECONDS').split(',').map(Number),
});
