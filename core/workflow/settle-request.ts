import { getAccount } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { countSettlementWrite } from '../end-users/end-users.ts';
import { pauseWrite } from '../end-users/pauses.ts';
import { requiredNumberEnv } from '../environment.ts';
import type { Failure } from '../errors.ts';
import { accountFoundInstead, balanceChangeWrites, type LedgerHead } from '../ledger/ledger.ts';
import type { Thousandths } from '../money.ts';
import { costOf, isTerminal, removalTime, type StoredRequest } from '../requests/request-rules.ts';
import { endRequestWrite, findRequest, type TerminalState } from '../requests/requests.ts';
import { refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import { followUp } from './follow-up.ts';

/** Every output was produced and none could be stored. */
const NOTHING_STORED: Failure = { code: 'internal_error', message: 'None of the outputs could be stored.' };

/**
 * Ends a request whose outputs are recorded: succeeded, charged for the outputs that have a file and
 * refunded for the rest; failed and refunded in full when none has. Then starts what follows its end. Harmless
 * when it is terminal already: what follows is made sure of.
 */
export const settleRequest = async (requestId: string, clock: Clock = systemClock): Promise<void> => {
  const request = await findRequest(requestId);
  const now = clock.now();
  if (request && !isTerminal(request)) await finalize(request, terminalStateOf(request, now), now);
  // Of one that failed, files may be left that another run stored: the reconciler looks, and closes the work.
  await followUp(requestId, async ({ status }) => status === 'succeeded');
};

const terminalStateOf = (request: StoredRequest, now: Date): TerminalState => {
  const delivered = (request.outputs ?? []).filter(({ objectKey }) => objectKey !== undefined).length;
  if (delivered === 0) return { status: 'failed', error: NOTHING_STORED };
  const expiresAt = addSeconds(toInstant(now), requiredNumberEnv('OUTPUT_TTL_SECONDS'));
  return { status: 'succeeded', costThousandths: costOf(request, delivered), expiresAt };
};

/**
 * Ends a request without outputs and refunds it in full, then starts what follows its end. Harmless when it is
 * terminal already.
 */
export const failRequest = async (
  requestId: string,
  error: Failure,
  clock: Clock = systemClock,
): Promise<void> => {
  await endAsFailed(requestId, error, clock);
  await followUp(requestId);
};

/**
 * Ends a request as failed and nothing more: what follows is the caller's to start. `operatorNote` is why an
 * operator ended it.
 */
export const endAsFailed = async (
  requestId: string,
  error: Failure,
  clock: Clock,
  operatorNote?: string,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request)) return;
  await finalize(request, { status: 'failed', error }, clock.now(), operatorNote);
};

/**
 * The one place where a request ends. Its terminal status, the refund with its ledger entry, and the
 * end-user's counters are one transaction, claimed by the condition that the request is not terminal: of
 * all who try, one ends it and the others find it ended.
 */
const finalize = async (
  request: StoredRequest,
  ending: TerminalState,
  now: Date,
  operatorNote?: string,
): Promise<void> => {
  const finishedAt = toInstant(now);
  const refund = refundOf(request, ending);
  const endedAt = ending.status === 'succeeded' ? ending.expiresAt : finishedAt;
  const ttl = removalTime(endedAt, requiredNumberEnv('RETENTION_DAYS'));
  const noted = operatorNote === undefined ? {} : { operatorNote };
  const owner = { accountId: request.accountId, email: request.endUserEmail };
  let head: LedgerHead | undefined = refund > 0 ? await getAccount(request.accountId) : undefined;

  await transact((refusals): TransactItem[] => {
    if (refusedBy(refusals, 0)) return [];
    const writes = [
      endRequestWrite(request, ending, { finishedAt, refundThousandths: refund, ttl, ...noted }),
      countSettlementWrite(owner, refund),
      ...pauseAfter(request, ending, finishedAt),
    ];
    if (!head) return writes;
    head = accountFoundInstead(refusals[writes.length]) ?? head;
    const change = { amountThousandths: refund, reason: 'refund', reference: request.requestId } as const;
    return [...writes, ...balanceChangeWrites(head, change, now).writes];
  });
};

/** A time-out at the provider pauses the end-user's creations with that model, and nothing else. */
const pauseAfter = (request: StoredRequest, ending: TerminalState, finishedAt: Instant): TransactItem[] => {
  if (ending.status !== 'failed' || ending.error.code !== 'provider_timeout') return [];
  const { accountId, endUserEmail: email, model } = request;
  return [pauseWrite({ accountId, email, model }, finishedAt, requiredNumberEnv('PAUSE_SECONDS'))];
};

const refundOf = (request: StoredRequest, ending: TerminalState): Thousandths =>
  ending.status === 'succeeded'
    ? request.debitThousandths - ending.costThousandths
    : request.debitThousandths;
