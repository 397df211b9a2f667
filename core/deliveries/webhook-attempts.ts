import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { readableItems } from '../observability.ts';
import {
  dueListing,
  type ItemKey,
  TTL_ATTRIBUTE,
  WEBHOOK_ATTEMPT_PREFIX,
  webhookAttemptKey,
  webhookAttemptPartition,
  webhookAttemptsEndKey,
} from '../table/keys.ts';
import {
  getItem,
  partitionQuery,
  putWrite,
  queryItems,
  setAll,
  tableName,
  type UpdateParts,
  updateOf,
} from '../table/table.ts';
import { refusedBy, type TransactItem, transact, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, type Clock, type Instant, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';

/**
 * A made attempt of a webhook delivery, as stored. `delivery` is the request id for the first delivery, with a suffix for a
 * delivery that an operator started. Either `status` (HTTP) or `error` is set.
 */
export const WebhookAttempt = z.object({
  requestId: z.string(),
  delivery: z.string(),
  /** Counts the attempts of its delivery, from 1. */
  number: z.number(),
  startedAt: z.string(),
  milliseconds: z.number(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
});
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

/** A stored attempt in any state: open without `startedAt`, under way or lost without `milliseconds`. */
export const StoredAttempt = z.partial(WebhookAttempt, { startedAt: true, milliseconds: true });

/** Which attempt of which delivery. */
export type AttemptName = Pick<WebhookAttempt, 'requestId' | 'delivery' | 'number'>;

/** Attempts are kept as long as provider attempts are. */
export const WEBHOOK_RETENTION_SECONDS = 100 * SECONDS_PER_DAY;
/** The process that wrote an event has its first attempt made at once. After this, the reconciler does. */
const TRIED_WITHIN_SECONDS = 30;
/** Age of an attempt without a result at which its function, with a time limit of 45 s, has died. */
const LOST_AFTER_SECONDS = 60;

/**
 * Access pattern 8: writes the first attempt of an event's webhook, still to be made, in the transaction that writes the event. The attempt is
 * listed as due until it was made and, if it failed, an execution makes the others.
 */
export const insertFirstAttemptWrite = (eventId: string, at: Instant): TransactItem =>
  putWrite({
    ...webhookAttemptKey(eventId, eventId, 1),
    ...dueListing('CHECK', eventId, addSeconds(at, TRIED_WITHIN_SECONDS)),
    ...{ requestId: eventId, delivery: eventId, number: 1 },
    [TTL_ATTRIBUTE]: toEpochSeconds(at) + WEBHOOK_RETENTION_SECONDS,
  });

/** The state of an attempt. `open`: not made yet, `isWritten` if its item exists. `under-way`: a function makes the attempt. */
export type AttemptState =
  | { kind: 'open'; isWritten: boolean }
  | { kind: 'under-way' }
  | { kind: 'made'; result: Pick<WebhookAttempt, 'status' | 'error'> };

/** The least of a stored attempt that tells how far the attempt is. */
const Begun = z.object({ startedAt: StoredAttempt.shape.startedAt, milliseconds: z.optional(z.unknown()) });

/**
 * Access pattern 72: how far an attempt is, strongly consistent. An attempt whose function died counts as made, with an unknown result, and is
 * recorded so; as does one that cannot be read.
 */
export const findAttempt = async (name: AttemptName, clock: Clock): Promise<AttemptState> => {
  const item = await getItem(keyOfAttempt(name));
  if (!item) return { kind: 'open', isWritten: false };
  const { startedAt, milliseconds } = Begun.parse(item);
  if (startedAt === undefined) return { kind: 'open', isWritten: true };
  if (milliseconds !== undefined) {
    const [made] = readableItems([item], (stored) => WebhookAttempt.parse(stored));
    return { kind: 'made', result: made ?? { error: 'unreadable' } };
  }
  if (addSeconds(startedAt, LOST_AFTER_SECONDS) > toInstant(clock.now())) return { kind: 'under-way' };
  const lost = { ...name, startedAt, milliseconds: LOST_AFTER_SECONDS * 1_000, error: 'interrupted' };
  await recordAttempt(lost, false);
  return { kind: 'made', result: lost };
};

/**
 * Access pattern 73: claims an attempt, which is then made by the caller alone. False when another function has claimed it, and once the
 * request is deleted.
 */
export const claimAttempt = async (
  name: AttemptName,
  startedAt: Instant,
  isWritten: boolean,
): Promise<boolean> => {
  // A write whose answer was lost is made again, and must not be refused for itself.
  const claimId = randomUUID();
  if (isWritten)
    return updateAttempt(name, {
      ...setAll({ startedAt, claimId }),
      ConditionExpression: 'attribute_exists(PK) AND (attribute_not_exists(startedAt) OR claimId = :claimId)',
    });
  const item = {
    ...keyOfAttempt(name),
    ...name,
    ...{ startedAt, claimId },
    [TTL_ATTRIBUTE]: toEpochSeconds(startedAt) + WEBHOOK_RETENTION_SECONDS,
  };
  const writes: TransactItem[] = [
    {
      ConditionCheck: {
        TableName: tableName(),
        Key: webhookAttemptsEndKey(name.requestId),
        ConditionExpression: 'attribute_not_exists(PK)',
      },
    },
    putWrite(item, {
      ConditionExpression: 'attribute_not_exists(PK) OR claimId = :claimId',
      ExpressionAttributeValues: { ':claimId': claimId },
    }),
  ];
  let isClaimed = true;
  await transact((refusals) => {
    isClaimed = !refusedBy(refusals, 0) && !refusedBy(refusals, 1);
    return isClaimed ? writes : [];
  });
  return isClaimed;
};

/**
 * Access pattern 73: records the result of a claimed attempt, and takes a first one off the due list if its delivery `isOver`. Does nothing once
 * the request is deleted.
 */
export const recordAttempt = async (attempt: WebhookAttempt, isOver: boolean): Promise<void> => {
  const { startedAt: _, requestId: _id, delivery: _delivery, number: _number, ...result } = attempt;
  const update = setAll(result);
  await updateAttempt(attempt, {
    ...update,
    UpdateExpression: `${update.UpdateExpression}${isOver ? ' REMOVE GSI1PK, GSI1SK' : ''}`,
    ConditionExpression: 'attribute_exists(PK)',
  });
};

/** Access pattern 73: takes the first attempt of an event's webhook off the due list: it is made, and an execution makes others. */
export const closeFirstAttempt = async (eventId: string): Promise<void> => {
  await updateAttempt(
    { requestId: eventId, delivery: eventId, number: 1 },
    { UpdateExpression: 'REMOVE GSI1PK, GSI1SK', ConditionExpression: 'attribute_exists(PK)' },
  );
};

const keyOfAttempt = ({ requestId, delivery, number }: AttemptName): ItemKey =>
  webhookAttemptKey(requestId, delivery, number);

const updateAttempt = (name: AttemptName, update: UpdateParts): Promise<boolean> =>
  writeUnlessRefused(updateOf(keyOfAttempt(name), update));

/**
 * Access pattern 72: the made webhook attempts of a request, by time, of every delivery or of one. Leaves out unreadable items.
 * Strongly consistent.
 */
export const listWebhookAttempts = async (
  requestId: string,
  delivery?: string,
): Promise<WebhookAttempt[]> => {
  const prefix = delivery === undefined ? WEBHOOK_ATTEMPT_PREFIX : `${WEBHOOK_ATTEMPT_PREFIX}${delivery}#`;
  const items = await queryItems(partitionQuery(webhookAttemptPartition(requestId), prefix));
  const made = items.filter(({ milliseconds }) => milliseconds !== undefined);
  const attempts = readableItems(made, (item) => WebhookAttempt.parse(item));
  return attempts.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
};
