import { providerAttemptKey, requestKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { putWrite, updateWrite } from '../table/table.ts';
import { refusedBy, type TransactItem, transact } from '../table/transactions.ts';
import { type Instant, toEpochSeconds, toInstant } from '../time.ts';
import { ATTEMPT_RETENTION_SECONDS, type ProviderAttempt } from './provider-attempts.ts';
import { openWaitWrite } from './provider-waits.ts';
import type { CallOrigin } from './providers.ts';

/** A call of the plan, and the number of its next attempt. */
export type PlannedAttempt = Pick<ProviderAttempt, 'call' | 'attempt'>;

/** The outcome of a claim: the claimed attempts, or why none was claimed and no call may be made. */
export type Claim =
  | { kind: 'claimed'; attempts: ProviderAttempt[] }
  /** Another run has claimed one of them. */
  | { kind: 'taken' }
  /** The request is terminal or deleted. */
  | { kind: 'ended' };

/**
 * Changes that a claim makes to its request: the gate and `takenMs` of its permit; and, if it is on the
 * `CHECK` list, its next due time. `beginsProcessing` marks it as processing; calls for a task do that later,
 * once accepted. `onAttempts` is kept with the attempts.
 */
export interface ClaimNotes {
  permit?: { gate: string; takenMs: number } | undefined;
  checkAt?: Instant | undefined;
  beginsProcessing?: boolean;
  onAttempts?: Pick<ProviderAttempt, 'circuit' | 'passedOver'>;
}

/**
 * Access pattern 45: claims attempts, all or none, on the condition that the request is unfinished, and notes on it that it
 * was dispatched. A claim of tasks opens the request's wait. It is the last thing before the calls, so no provider is called for a
 * request that has ended.
 *
 * Conflicts are retried. When an answer is lost, a repeated claim with the same `claimId` finds its own writes and
 * succeeds.
 */
export const claimAttempts = async (
  requestId: string,
  calls: readonly PlannedAttempt[],
  origin: CallOrigin,
  now: Date,
  claimId: string,
  noted: ClaimNotes = {},
): Promise<Claim> => {
  if (calls.length === 0) return { kind: 'claimed', attempts: [] };
  const startedAt = toInstant(now);
  const attempts = calls.map(
    (planned): ProviderAttempt => ({
      ...{ requestId, ...planned, ...origin, startedAt, aliveAt: startedAt },
      ...noted.onAttempts,
    }),
  );
  const writes = [
    ...attempts.map((attempt) => insertAttemptWrite(attempt, claimId)),
    dispatchedWrite(requestId, startedAt, noted),
    ...(noted.beginsProcessing ? [] : [openWaitWrite(requestId, startedAt)]),
  ];
  let claim: Claim = { kind: 'claimed', attempts };
  await transact((refusals) => {
    if (refusedBy(refusals, attempts.length)) claim = { kind: 'ended' };
    else if (refusals.some(({ item }) => item !== undefined && item.claimId !== claimId))
      claim = { kind: 'taken' };
    const isDecided = refusals.some((_, index) => refusedBy(refusals, index));
    return isDecided ? [] : writes;
  });
  return claim;
};

const insertAttemptWrite = (attempt: ProviderAttempt, claimId: string): TransactItem =>
  putWrite(
    {
      ...providerAttemptKey(attempt.requestId, attempt.call, attempt.attempt),
      ...attempt,
      claimId,
      [TTL_ATTRIBUTE]: toEpochSeconds(attempt.startedAt) + ATTEMPT_RETENTION_SECONDS,
    },
    {
      ConditionExpression: 'attribute_not_exists(PK)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  );

/** Notes a request's first claim. Refused when the request is terminal or absent. A check would cost as much. */
const dispatchedWrite = (
  requestId: string,
  now: Instant,
  { permit, checkAt, beginsProcessing }: ClaimNotes,
): TransactItem =>
  updateWrite(requestKey(requestId), {
    UpdateExpression: [
      'SET dispatchedAt = if_not_exists(dispatchedAt, :now)',
      ...(permit === undefined ? [] : ['gate = :gate', 'permitMs = :taken']),
      ...(checkAt === undefined ? [] : ['GSI1SK = :checkAt']),
      ...(beginsProcessing ? ['#status = :processing'] : []),
    ].join(', '),
    ConditionExpression: '#status IN (:queued, :processing)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':now': now,
      ':queued': 'queued',
      ':processing': 'processing',
      ...(permit !== undefined && { ':gate': permit.gate, ':taken': permit.takenMs }),
      ...(checkAt !== undefined && { ':checkAt': checkAt }),
    },
  });
