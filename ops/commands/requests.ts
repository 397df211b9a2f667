import { type Command, Option } from 'commander';
import { getAccount, listAccounts } from '../../core/accounts/accounts.ts';
import { systemClock } from '../../core/clock.ts';
import { ConflictError } from '../../core/errors.ts';
import {
  isTerminal,
  RECORD_STATUSES,
  type RecordStatus,
  statusAt,
} from '../../core/requests/request-rules.ts';
import { stopWorkflow } from '../execution-history.ts';
import { ENDED_BY_OPERATOR, failByOperator, isEndedByOperator } from '../fail-by-operator.ts';
import { note as noteText, recordStatus, seconds, text } from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { renderFailed, renderReport } from '../request-json.ts';
import { listRequestsOf } from '../request-list.ts';
import { getReadableRequest, loadRequestReport } from '../request-report.ts';
import { formatReport } from '../request-text.ts';
import type { Perform, Verb } from '../verb.ts';
import { addRetryWebhookVerb } from './retry-webhook.ts';
import { addWatchRequestsVerb } from './watch-requests.ts';

/** `requests list|show|fail|retry-webhook|watch` */
export const addRequestVerbs = (requests: Command, perform: Perform): void => {
  requests
    .command('list')
    .description('requests, newest first')
    .option('--account <id>', 'only this account', text)
    .addOption(
      new Option('--status <status>', 'only this status').choices(RECORD_STATUSES).argParser(recordStatus),
    )
    .option('--older-than <time>', 'only those at least this old: 90s, 10m, 2h, 1d', seconds)
    .action(perform(list));
  requests
    .command('show')
    .description('everything stored about a request')
    .requiredOption('--id <id>', 'the request', text)
    .action(perform(show));
  requests
    .command('fail')
    .description('fail an unfinished request and refund it in full')
    .requiredOption('--id <id>', 'the request', text)
    .option('--note <text>', 'the reason, for operators only', noteText)
    .action(perform(fail));
  addRetryWebhookVerb(requests, perform);
  addWatchRequestsVerb(requests, perform);
};

interface ListOptions {
  account?: string;
  status?: RecordStatus;
  olderThan?: number;
}

const list: Verb<ListOptions> = async ({ account, status, olderThan }, connected, { say }) => {
  await connected();
  const accounts = account === undefined ? await listAccounts() : [await getAccount(account)];
  const now = systemClock.now();
  const requests = await listRequestsOf(accounts, { status, olderThanSeconds: olderThan }, now, say);
  const value = requests.map((request) => ({
    requestId: request.requestId,
    accountId: request.accountId,
    status: statusAt(request, now),
    model: request.model,
    createdAt: request.createdAt,
  }));
  return {
    value,
    text: (columns) =>
      formatTable(
        ['created', 'request', { title: 'account', fit: 'cut' }, 'status', 'model'],
        value.map((row) => [row.createdAt, row.requestId, row.accountId, row.status, row.model]),
        columns,
      ),
  };
};

const show: Verb<{ id: string }> = async ({ id }, connected) => {
  await connected();
  const now = systemClock.now();
  const value = renderReport(await loadRequestReport(id, now), now);
  return { value, text: (columns) => formatReport(value, now, columns) };
};

/**
 * Fails the request first, then stops its execution. Only one of the two can end the request, so it is refunded once. In the
 * other order the reconciler would see the stopped execution and could fail the request with its own message.
 */
const fail: Verb<{ id: string; note?: string }> = async ({ id, note }, connected) => {
  await connected();
  const request = await getReadableRequest(id, systemClock.now());
  if (isTerminal(request)) throw new ConflictError(`Request ${id} has already ${request.status}.`);
  const ended = await failByOperator(id, note);
  if (!isEndedByOperator(ended)) {
    throw new ConflictError(`Request ${id} ${ended.status} before it could be failed.`);
  }
  await stopWorkflow(id, ENDED_BY_OPERATOR.message);
  const value = renderFailed(ended, systemClock.now());
  const { requestId, model, status, operatorNote } = value;
  return {
    value,
    text: (columns) =>
      formatFields({ requestId, model, status, reason: ended.error?.message, note: operatorNote }, columns),
  };
};
