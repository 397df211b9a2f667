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
import { endRequestWrite, type FollowUp, type Settlement, type TerminalState } from '../requests/requests.ts';
import { SETTLEMENT_PATIENCE } from '../table/retries.ts';
import type { StoredItem } from '../table/table.ts';
import {
  type ExtraWrites,
  isRefused,
  type NamedRefusals,
  type NamedWrites,
  refusedBy,
  type TransactItem,
  transactNamed,
} from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import { providerCostsOf, type RequestParts, requestParts } from './end-rules.ts';

/** Time that the ending process has to start the follow-up work itself. Cancelling tasks is not delayed: only the reconciler cancels. */
const CLOSE_WITHIN_SECONDS = 60;
/** The same time for a request that may hold a permit, for which other requests wait. */
const RELEASE_WITHIN_SECONDS = 3;

/** A request that is to end, with the latest attempts of its provider calls. */
export interface EndingRequest {
  request: StoredRequest;
  attempts: readonly ProviderAttempt[];
}

/** What the caller of an end adds to the request's record, and to the transaction. */
export interface EndExtras {
  /** An operator's reason. */
  operatorNote?: string | undefined;
  extraWrites?: ExtraWrites;
}

/** Options of the write that ends a request. */
interface EndOptions extends EndExtras {
  /** Whether a failed request may have files to remove: true by default. */
  mayHaveFiles?: boolean;
  /** Whether the request only ends while none of its outputs is stored. */
  unlessStored?: boolean;
}

/**
 * The result of the write that ends a request. `closed`: ended, with no follow-up work but the expiry of its files.
 * `stored`, only with `unlessStored`: not ended, because an output was stored first.
 */
type EndResult = 'ended' | 'closed' | 'stored';

/** The end of a request as decided before the transaction. */
interface DecidedEnd {
  request: StoredRequest;
  state: TerminalState;
  now: Date;
  finishedAt: Instant;
  refund: Thousandths;
  settlement: Omit<Settlement, 'refundEntryNumber'>;
  follows: FollowUp | undefined;
  options: EndOptions;
}

/** The writes that end a request, by what they write. */
type EndWrites = NamedWrites<
  'request' | 'endUser' | 'pause' | 'account' | 'entry' | 'extra' | 'webhook' | 'budgets'
>;

/** An attempt of the transaction: the writes, and the stored state they build on. */
interface Attempt {
  /** The account that gets the refund; undefined without a refund. */
  head: LedgerHead | undefined;
  /** Whether the counts of a budget that is younger than the request contain the request's debit. */
  isCounted: boolean;
  /** The sort keys of budget counts that cannot be read: the refund does not wait for them. */
  unread: readonly string[];
  writes?: EndWrites;
}

/**
 * The write by which `endRequest` ends a request: the only place where a request reaches a terminal state. One transaction writes the status, the refund with
 * its ledger entry, the counts of the end-user and of budgets and, after a provider timeout, the pause. Its condition is that the
 * request is not terminal, so only the first of concurrent calls ends the request.
 *
 * Throws `UnknownStatusError`.
 *
 * Puts the follow-up work on a due list. On `CHECK`: removing files of a failed request, cancelling tasks of the provider, or
 * leaving routes. On `EXPIRE`: only the expiry of the files is left. The first attempt of the webhook is an item of its own on
 * `CHECK`.
 */
export const writeEnd = async (
  { request, attempts }: EndingRequest,
  state: TerminalState,
  now: Date,
  options: EndOptions = {},
): Promise<EndResult> => {
  checkStatus(request);
  const end = decideEnd({ request, attempts }, state, now, options);
  const head = end.refund > 0 ? await getAccount(request.accountId) : undefined;
  let attempt: Attempt = { head, isCounted: false, unread: [] };
  let found: EndResult | undefined;
  await transactNamed<keyof EndWrites>(async (refusals) => {
    const [refusal] = refusals.request ?? [];
    if (isRefused(refusal)) {
      found = resultFound(refusal?.item);
      return undefined;
    }
    attempt = await planAttempt(end, attempt, refusals);
    return attempt.writes;
  }, SETTLEMENT_PATIENCE);
  if (found) return found;
  for (const item of attempt.unread) reportUnreadable(`${request.accountId} ${item}`);
  reportEnd(request, state, end.refund, requestParts(request, attempts, now));
  return end.follows?.list === 'CHECK' ? 'ended' : 'closed';
};

/** The result for a request that this call did not end, by the stored request. */
const resultFound = (item: StoredItem | undefined): EndResult => {
  const stored = item as Pick<StoredRequest, 'status' | 'refundThousandths'> | undefined;
  return stored && stored.refundThousandths === undefined && !isTerminal(stored) ? 'stored' : 'ended';
};

const decideEnd = (
  { request, attempts }: EndingRequest,
  state: TerminalState,
  now: Date,
  options: EndOptions,
): DecidedEnd => {
  const { operatorNote, mayHaveFiles = true } = options;
  const finishedAt = toInstant(now);
  const refund = refundOf(request, state);
  const retainedFrom = state.status === 'succeeded' ? state.expiresAt : finishedAt;
  // Outputs may be missing because the provider still works on them.
  const mayHaveTasks = (request.outputs ?? []).length < maxOutputs(request) && hasOpenTask(attempts);
  const isToBeClosed =
    (state.status === 'failed' && (mayHaveFiles || clipsOf(request).length > 0)) ||
    mayHaveTasks ||
    mayBeAtRoute(request, state.status);
  const settledSeconds = mayHavePermit(request) ? RELEASE_WITHIN_SECONDS : CLOSE_WITHIN_SECONDS;
  const closeAt = addSeconds(finishedAt, mayHaveTasks ? 0 : settledSeconds);
  const expiry =
    state.status === 'succeeded' ? ({ list: 'EXPIRE', dueAt: state.expiresAt } as const) : undefined;
  const providerCosts = providerCostsOf(request, attempts);
  return {
    ...{ request, state, now, finishedAt, refund, options },
    follows: isToBeClosed ? { list: 'CHECK', dueAt: closeAt } : expiry,
    settlement: {
      ...{ finishedAt, refundThousandths: refund, ttl: removalTime(retainedFrom, request.retentionDays) },
      ...(operatorNote !== undefined && { operatorNote }),
      ...(providerCosts && { providerCosts }),
    },
  };
};

/** Plans the next attempt, after the refusals of the last one. */
const planAttempt = async (
  end: DecidedEnd,
  last: Attempt,
  refusals: NamedRefusals<keyof EndWrites>,
): Promise<Attempt> => {
  const { request, state, settlement, follows, refund, finishedAt } = end;
  const { extraWrites = [], unlessStored = false } = end.options;
  const { accountId, createdAt, endUserId, budgetOwners = [], endUserEmail: email } = request;
  const isUnread = (_: TransactItem, index: number): boolean => refusedBy(refusals.budgets ?? [], index);
  const unread = [...last.unread, ...(last.writes?.budgets ?? []).filter(isUnread).map(sortKeyOf)];
  const [endUserRefusal] = refusals.endUser ?? [];
  const endUser = isRefused(endUserRefusal) ? endUserRefusal?.item : undefined;
  const isCounted = endUser ? beganWith(toEndUser(endUser), createdAt) : last.isCounted;
  const refunded = refund > 0 && !budgetOwners.includes(endUserId) ? { createdAt, isCounted } : undefined;
  const found = last.head && (await accountFoundInstead(accountId, refusals.account?.[0]));
  const head = found ?? last.head;
  const credit = head && balanceChangeWrites(head, refundChange(request, refund), end.now);
  const credited = { ...settlement, ...(credit && { refundEntryNumber: credit.entry.number }) };
  const owners = credit ? [...budgetOwners, ...(isCounted ? [endUserId] : [])] : [];
  const budgets = giveBackWrites(request.accountId, owners, refund, createdAt);
  const writes: EndWrites = {
    request: [endRequestWrite(request, state, credited, { follows, unlessStored })],
    endUser: [countSettlementWrite({ accountId, email }, refund, refunded)],
    pause: pauseWrites(request, state, finishedAt),
    account: credit?.writes.slice(0, 1) ?? [],
    entry: credit?.writes.slice(1) ?? [],
    extra: extraWrites,
    webhook: request.webhookUrl === undefined ? [] : [insertFirstAttemptWrite(request.requestId, finishedAt)],
    budgets: budgets.filter((write) => !unread.includes(sortKeyOf(write))),
  };
  return { head, isCounted, unread, writes };
};

const sortKeyOf = ({ Update }: TransactItem): string => String(Update?.Key?.SK);

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
