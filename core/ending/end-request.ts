import { getAccount } from '../accounts/accounts.ts';
import { mayBeAtRoute, mayHavePermit } from '../admission/admission.ts';
import { giveBackWrites } from '../budgets/spending.ts';
import { insertFirstAttemptWrite } from '../deliveries/webhook-attempts.ts';
import { beganWith, countSettlementWrite, toEndUser } from '../end-users/end-users.ts';
import { pauseWrite } from '../end-users/pauses.ts';
import { requiredNumberEnv } from '../environment.ts';
import {
  accountFoundInstead,
  type BalanceChange,
  balanceChangeWrites,
  type LedgerHead,
} from '../ledger/ledger.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { countMetric, logger, METRIC, measure, reportUnreadable } from '../observability.ts';
import { hasOpenTask } from '../provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import {
  checkStatus,
  clipsOf,
  isTerminal,
  maxOutputs,
  removalTime,
  type StoredRequest,
} from '../requests/request-rules.ts';
import { endRequestWrite, type TerminalState } from '../requests/requests.ts';
import { SETTLEMENT_PATIENCE } from '../table/retries.ts';
import { type ExtraWrites, refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import { providerCostsOf, type RequestParts, requestParts } from './end-rules.ts';

/**
 * Time for the ending process to start the follow-up work itself. Only the reconciler cancels tasks, without
 * this delay.
 */
const CLOSE_WITHIN_SECONDS = 60;
/** The same for a request that may hold a permit, for which others wait. */
const RELEASE_WITHIN_SECONDS = 3;

/** The index of the end-user's counters in the transaction. */
const END_USER_WRITE = 1;

/** Facts about a request that ends. */
export interface EndOptions {
  /** An operator's reason. */
  operatorNote?: string | undefined;
  extraWrites?: ExtraWrites;
  mayHaveFiles?: boolean;
  /** Whether it is only ended while none of its outputs is stored. */
  unlessStored?: boolean;
}

/**
 * The result of ending a request. `closed`: ended, with no follow-up work but the expiry of its files.
 * `stored`, only with `unlessStored`: not ended, because an output was stored first.
 */
type Ending = 'ended' | 'closed' | 'stored';

/**
 * The only place where a request reaches a terminal state. `attempts` are the latest of its provider calls. One transaction writes the status, the refund with
 * its ledger entry, the counts of the end-user and of budgets and, after a provider timeout, the pause. Its condition is that the
 * request is not terminal, so concurrent calls end it once and the others do nothing.
 *
 * Throws `UnknownStatusError`.
 *
 * Puts the follow-up work on a due list. On `CHECK`: the first attempt of the webhook, an item of its own; removing files of a failed request,
 * cancelling tasks of the provider, or leaving its routes. On `EXPIRE`: only the expiry of its files is left.
 */
export const endRequest = async (
  request: StoredRequest,
  attempts: readonly ProviderAttempt[],
  state: TerminalState,
  now: Date,
  { operatorNote, extraWrites = [], mayHaveFiles = true, unlessStored = false }: EndOptions = {},
): Promise<Ending> => {
  checkStatus(request);
  const finishedAt = toInstant(now);
  const refund = refundOf(request, state);
  const retainedFrom = state.status === 'succeeded' ? state.expiresAt : finishedAt;
  const ttl = removalTime(retainedFrom, request.retentionDays);
  // Outputs may be missing because the provider still works on them.
  const mayHaveTasks = (request.outputs ?? []).length < maxOutputs(request) && hasOpenTask(attempts);
  const isToBeClosed =
    (state.status === 'failed' && (mayHaveFiles || clipsOf(request).length > 0)) ||
    mayHaveTasks ||
    mayBeAtRoute(request, state.status);
  const settledSeconds = mayHavePermit(request) ? RELEASE_WITHIN_SECONDS : CLOSE_WITHIN_SECONDS;
  const closeWithinSeconds = mayHaveTasks ? 0 : settledSeconds;
  const follows = isToBeClosed
    ? { list: 'CHECK' as const, dueAt: addSeconds(finishedAt, closeWithinSeconds) }
    : state.status === 'succeeded'
      ? { list: 'EXPIRE' as const, dueAt: state.expiresAt }
      : undefined;
  const providerCosts = providerCostsOf(request, attempts);
  const settlement = {
    ...{ finishedAt, refundThousandths: refund, ttl },
    ...(operatorNote !== undefined && { operatorNote }),
    ...(providerCosts && { providerCosts }),
  };
  const owner = { accountId: request.accountId, email: request.endUserEmail };
  const { createdAt, endUserId, budgetOwners = [] } = request;
  // A request that was created without a budget can be in the counts that began with one.
  let isCounted = false;
  // Counts of budgets that cannot be read: a refund does not wait for them.
  const unread = new Set<string>();
  let [counted, firstCounted]: [TransactItem[], number] = [[], 0];
  const webhookWrites =
    request.webhookUrl === undefined ? [] : [insertFirstAttemptWrite(request.requestId, finishedAt)];
  let head: LedgerHead | undefined = refund > 0 ? await getAccount(request.accountId) : undefined;
  /** Set when this did not end it. */
  let found: Ending | undefined;

  await transact(async (refusals): Promise<TransactItem[]> => {
    if (refusedBy(refusals, 0)) {
      const stored = refusals[0]?.item as Pick<StoredRequest, 'status' | 'refundThousandths'> | undefined;
      const isOpen = stored && stored.refundThousandths === undefined && !isTerminal(stored);
      found = isOpen ? 'stored' : 'ended';
      return [];
    }
    for (const [index, { Update }] of counted.entries())
      if (refusedBy(refusals, firstCounted + index)) unread.add(String(Update?.Key?.SK));
    const endUser = refusedBy(refusals, END_USER_WRITE) ? refusals[END_USER_WRITE]?.item : undefined;
    if (endUser) isCounted = beganWith(toEndUser(endUser), createdAt);
    const refunded = refund > 0 && !budgetOwners.includes(endUserId) ? { createdAt, isCounted } : undefined;
    const counts = [
      countSettlementWrite(owner, refund, refunded),
      ...pauseWrites(request, state, finishedAt),
    ];
    if (head) head = (await accountFoundInstead(request.accountId, refusals, 1 + counts.length)) ?? head;
    const credit = head && balanceChangeWrites(head, refundChange(request, refund), now);
    const credited = { ...settlement, ...(credit && { refundEntryNumber: credit.entry.number }) };
    const settled = [
      endRequestWrite(request, state, credited, follows, unlessStored),
      ...counts,
      ...(credit?.writes ?? []),
      ...extraWrites,
      ...webhookWrites,
    ];
    const owners = credit ? [...budgetOwners, ...(isCounted ? [endUserId] : [])] : [];
    firstCounted = settled.length;
    counted = giveBackWrites(request.accountId, owners, refund, createdAt).filter(
      ({ Update }) => !unread.has(String(Update?.Key?.SK)),
    );
    return [...settled, ...counted];
  }, SETTLEMENT_PATIENCE);
  if (found) return found;
  for (const item of unread) reportUnreadable(`${request.accountId} ${item}`);
  reportEnd(request, state, refund, requestParts(request, attempts, now));
  return isToBeClosed ? 'ended' : 'closed';
};

/** The change of the balance that gives a request's refund back. */
const refundChange = (
  { requestId, retentionDays, model, endUserId, debitEntryNumber }: StoredRequest,
  refund: Thousandths,
): BalanceChange => ({
  amountThousandths: refund,
  reason: 'refund',
  reference: requestId,
  retentionDays,
  usedBy: { model, endUserId, ...(debitEntryNumber !== undefined && { debitNumber: debitEntryNumber }) },
});

/** Counts an end, and logs where its time went. The webhook's own line has the seconds since the end. */
const reportEnd = (
  request: StoredRequest,
  state: TerminalState,
  refund: Thousandths,
  parts: RequestParts,
): void => {
  const { requestId, accountId, model, webhookUrl } = request;
  const { status: outcome } = state;
  countMetric(METRIC.requestEnded, { model, outcome });
  if (isRefusal(state)) countMetric(METRIC.requestRefused, {});
  else countMetric(METRIC.requestFailed, {}, outcome === 'failed' ? 1 : 0);
  measure(METRIC.timeToDone, { model, outcome }, parts.totalSeconds);
  const { providerSeconds } = parts;
  if (providerSeconds !== undefined) {
    measure(METRIC.atProvider, { model }, providerSeconds);
    const outputSeconds = request.kind === 'video' ? request.durationSec : 1;
    if (outcome === 'succeeded') measure(METRIC.secondsPerOutput, { model }, providerSeconds / outputSeconds);
  }
  if (refund > 0) measure(METRIC.refunded, {}, toXTokens(refund));
  const code = state.status === 'failed' ? state.error.code : undefined;
  const hasWebhook = webhookUrl !== undefined;
  logger.info('request ended', { requestId, accountId, model, outcome, code, ...parts, hasWebhook });
};

/** Whether a request failed for what its caller asked: the content, or an input. */
const isRefusal = (state: TerminalState): boolean =>
  state.status === 'failed' && (state.error.code === 'content_policy' || state.error.input !== undefined);

/**
 * A provider timeout pauses the end-user's creations with that model. No other failure does, such as a slow file of the caller, nor the end of a wait for
 * capacity: such a request was never dispatched.
 */
const pauseWrites = (request: StoredRequest, state: TerminalState, finishedAt: Instant): TransactItem[] => {
  if (state.status !== 'failed' || state.error.code !== 'provider_timeout' || state.error.input) return [];
  if (request.status === 'queued' && request.dispatchedAt === undefined) return [];
  const { accountId, endUserEmail: email, model } = request;
  return [pauseWrite({ accountId, email, model }, finishedAt, requiredNumberEnv('PAUSE_SECONDS'))];
};

const refundOf = (request: StoredRequest, state: TerminalState): Thousandths =>
  state.status === 'succeeded' ? request.debitThousandths - state.costThousandths : request.debitThousandths;
