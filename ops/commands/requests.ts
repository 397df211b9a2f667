import { type Command, Option } from 'commander';
import { getAccount, listAccounts } from '../../core/accounts/accounts.ts';
import { ConflictError, ERROR_CODES, NotFoundError } from '../../core/errors.ts';
import { toXTokens } from '../../core/money.ts';
import { listAttempts } from '../../core/provider-calls/provider-attempts.ts';
import { routeNameOf } from '../../core/provider-names.ts';
import {
  isTerminal,
  RECORD_STATUSES,
  type StoredRequest,
  statusAt,
} from '../../core/requests/request-rules.ts';
import { systemClock } from '../../core/time.ts';
import { stopWorkflow } from '../execution-history.ts';
import { ENDED_BY_OPERATOR, failByOperator, isEndedByOperator } from '../fail-by-operator.ts';
import {
  email,
  limit,
  MODEL_IDS,
  note as noteText,
  pageNumber,
  recordStatus,
  seconds,
  since,
  text,
} from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { renderFailed, renderReport } from '../request-json.ts';
import { type RequestSearch, searchRequests } from '../request-list.ts';
import { getReadableRequest, loadRequestReport } from '../request-report.ts';
import { formatReport } from '../request-text.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';
import { addRetryWebhookVerb } from './retry-webhook.ts';
import { addWatchRequestsVerb } from './watch-requests.ts';

/** Requests that are printed without `--limit`. */
const DEFAULT_LIMIT = 50;

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
    .option('--since <time>', 'from then on: 2026-11-01, or how long ago: 7d', since)
    .option('--id <text>', 'with this in their id', text)
    .option('--end-user <email>', 'of this end-user', email)
    .option('--model <id>', 'of this model', text)
    .option('--error <code>', 'failed with this code', text)
    .option('--prompt <text>', 'with this in their prompt, in any case', text)
    .option('--limit <number>', 'requests of a page', limit, DEFAULT_LIMIT)
    .option('--page <number>', 'page number, from 1', pageNumber, 1)
    .action(perform(list));
  about(
    requests.command('show').description('everything stored about a request'),
    'id',
    'the request',
  ).action(perform(show));
  about(
    requests.command('fail').description('fail an unfinished request and refund it in full'),
    'id',
    'the request',
  )
    .option('--note <text>', 'the reason, for operators only', noteText)
    .action(perform(fail));
  addRetryWebhookVerb(requests, perform);
  addWatchRequestsVerb(requests, perform);
};

interface ListOptions extends Omit<RequestSearch, 'olderThanSeconds'> {
  account?: string;
  olderThan?: number;
}

const list: Verb<ListOptions> = async ({ account, olderThan, ...search }, connected, { say }) => {
  await connected();
  const accounts = account === undefined ? await listAccounts() : [await getAccount(account)];
  const now = systemClock.now();
  const found = await searchRequests(accounts, { ...search, olderThanSeconds: olderThan }, now, say);
  if (found.requests.length === 0) checkNames(search);
  const refusals = search.error === undefined ? [] : await upstreamErrorsOf(found.requests);
  const value = found.requests.map((request, index) => ({
    requestId: request.requestId,
    accountId: request.accountId,
    status: statusAt(request, now),
    model: request.model,
    createdAt: request.createdAt,
    ...refusals[index],
  }));
  const more = found.hasMore ? `\n\nMore on --page ${search.page + 1}.` : '';
  return {
    value,
    text: (columns) =>
      formatTable(
        [
          ...['created', { id: 'request' }, ...(account === undefined ? [{ id: 'account' }] : [])],
          ...['status', 'model', 'end-user'],
          ...(refusals.length === 0 ? [] : ['provider', 'its code']),
        ],
        found.requests.map((request, index) => [
          ...[request.createdAt, request.requestId],
          ...(account === undefined ? [request.accountId] : []),
          ...[describeStatus(request, now), request.model, request.endUserEmail],
          ...(refusals.length === 0 ? [] : [refusals[index]?.provider, refusals[index]?.providerCode]),
        ]),
        columns,
      ) + more,
  };
};

/**
 * Refuses a model or code that does not exist, and names those that do. Only for a search that found nothing: requests of a model
 * that left the catalog are still listed. Throws `NotFoundError`.
 */
const checkNames = ({ model, error }: RequestSearch): void => {
  const codes: readonly string[] = ERROR_CODES;
  if (model !== undefined && !MODEL_IDS.includes(model))
    throw new NotFoundError(`There is no model ${model}. The models are ${MODEL_IDS.join(', ')}.`);
  if (error !== undefined && !codes.includes(error))
    throw new NotFoundError(`There is no error code ${error}. The codes are ${codes.join(', ')}.`);
};

/** Which provider failed a request last, and its own code; null where none did. */
interface UpstreamErrorOf {
  provider: string | null;
  providerCode: string | null;
}

/** Requests whose attempts are read at once. */
const READ_AT_ONCE = 16;

/** The last failed call of each request, in their order. */
const upstreamErrorsOf = async (requests: readonly StoredRequest[]): Promise<UpstreamErrorOf[]> => {
  const errors: UpstreamErrorOf[] = [];
  for (let start = 0; start < requests.length; start += READ_AT_ONCE) {
    const read = requests.slice(start, start + READ_AT_ONCE).map(async ({ requestId }) => {
      const failed = (await listAttempts(requestId)).findLast(({ outcome }) => outcome?.kind === 'failed');
      const outcome = failed?.outcome;
      const code = outcome?.kind === 'failed' ? outcome.upstream?.code : undefined;
      return { provider: failed ? routeNameOf(failed) : null, providerCode: code ?? null };
    });
    errors.push(...(await Promise.all(read)));
  }
  return errors;
};

/** The status, with the error's code where it failed. */
const describeStatus = (request: StoredRequest, now: Date): string =>
  [statusAt(request, now), ...(request.error ? [request.error.code] : [])].join(', ');

const show: Verb<{ id: string }> = async ({ id }, connected) => {
  await connected();
  const now = systemClock.now();
  const report = await loadRequestReport(id, now);
  const value = renderReport(report, now);
  return { value, text: (columns) => formatReport(value, now, columns) };
};

/**
 * Fails the request first, then stops its execution. Only one of the two can end the request, so it is refunded once. In the
 * other order the reconciler would see the stopped execution and could fail the request with its own message.
 */
const fail: Verb<{ id: string; note?: string }> = async ({ id, note: given }, connected, { recorder }) => {
  await connected();
  const request = await getReadableRequest(id, systemClock.now());
  if (isTerminal(request)) throw new ConflictError(`Request ${id} has already ${request.status}.`);
  const ended = await failByOperator(request, (await recorder()).write, given);
  if (!isEndedByOperator(ended)) {
    throw new ConflictError(`Request ${id} ${ended.status} before it could be failed.`);
  }
  await stopWorkflow(id, ENDED_BY_OPERATOR.message);
  const value = renderFailed(ended, systemClock.now());
  const { requestId, model, status, operatorNote: note } = value;
  const [reason, refunded] = [ended.error?.message, toXTokens(ended.refundThousandths ?? 0)];
  return {
    value,
    text: (columns) => formatFields({ requestId, model, status, refunded, reason, note }, columns),
  };
};
