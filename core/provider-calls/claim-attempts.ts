import { providerAttemptKey, requestKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { putWrite, type StoredItem, updateWrite } from '../table/table.ts';
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
  /** Another run has claimed a call of the request, or has assigned another route. */
  | { kind: 'taken' }
  /** The request is terminal or deleted. */
  | { kind: 'ended' };

/**
 * A claim: the route of its calls, and its conditions and changes on the request. `assignment` is the number that the request must have. `checkAt` is its next due time,
 * if it is on the `CHECK` list. `beginsProcessing` marks it as processing; calls for a task do that later, once accepted. `passedOver` is
 * kept with the attempts.
 */
export interface ClaimOptions {
  claimId: string;
  now: Date;
  origin: CallOrigin;
  assignment: number;
  checkAt?: Instant | undefined;
  beginsProcessing?: boolean;
  passedOver?: ProviderAttempt['passedOver'];
}

/**
 * Access pattern 45: claims attempts, all or none, on the condition that the request is unfinished, and records the dispatch on
 * the request. A claim of tasks opens the request's wait. The claim is the last step before the calls, so no provider is called
 * for an ended request.
 *
 * Conflicts are retried. When an answer is lost, a repeated claim with the same `claimId` finds its own writes and
 * succeeds.
 */
export const claimAttempts = async (
  requestId: string,
  calls: readonly PlannedAttempt[],
  options: ClaimOptions,
): Promise<Claim> => {
  if (calls.length === 0) return { kind: 'claimed', attempts: [] };
  const { origin, now, claimId, assignment, passedOver } = options;
  const startedAt = toInstant(now);
  const attempts = calls.map(
    (planned): ProviderAttempt => ({
      ...{ requestId, ...planned, assignment, ...origin, startedAt, aliveAt: startedAt },
      ...(passedOver && passedOver.length > 0 && { passedOver }),
    }),
  );
  const writes = [
    ...attempts.map((attempt) => insertAttemptWrite(attempt, claimId)),
    dispatchedWrite(requestId, startedAt, options),
    ...(options.beginsProcessing ? [] : [openWaitWrite(requestId, startedAt)]),
  ];
  let claim: Claim = { kind: 'claimed', attempts };
  await transact((refusals) => {
    const request = refusals[attempts.length]?.item;
    if (refusedBy(refusals, attempts.length)) claim = { kind: isOpen(request) ? 'taken' : 'ended' };
    else if (
      refusals.slice(0, attempts.length).some(({ item }) => item !== undefined && item.claimId !== claimId)
    )
      claim = { kind: 'taken' };
    const isDecided = refusals.some((_, index) => refusedBy(refusals, index));
    return isDecided ? [] : writes;
  });
  return claim;
};

const isOpen = ({ status }: StoredItem = {}): boolean => status === 'queued' || status === 'processing';

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

/** Records a claim on its request. Refused when the request is terminal or absent, or has another assignment. A check would cost as much. */
const dispatchedWrite = (
  requestId: string,
  now: Instant,
  { claimId, assignment, checkAt, beginsProcessing }: ClaimOptions,
): TransactItem =>
  updateWrite(requestKey(requestId), {
    UpdateExpression: [
      'SET dispatchedAt = if_not_exists(dispatchedAt, :now), assignment.claimId = :claim',
      ...(checkAt === undefined ? [] : ['GSI1SK = :checkAt']),
      ...(beginsProcessing ? ['#status = :processing'] : []),
    ].join(', '),
    ConditionExpression: '#status IN (:queued, :processing) AND assignment.#number = :number',
    ExpressionAttributeNames: { '#status': 'status', '#number': 'number' },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ExpressionAttributeValues: {
      ':now': now,
      ':claim': claimId,
      ':number': assignment,
      ':queued': 'queued',
      ':processing': 'processing',
      ...(checkAt !== undefined && { ':checkAt': checkAt }),
    },
  });
