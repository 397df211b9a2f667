import * as z from 'zod/mini';
import { providerWaitKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { updateExisting } from '../table/outcomes.ts';
import { getItem, setAll, updateWrite } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { addSeconds, type Instant, latestEndMs, toEpochSeconds, toInstant } from '../time.ts';
import { MOST_RETRY_AFTER_SECONDS } from './attempt-rules.ts';
import { ATTEMPT_RETENTION_SECONDS } from './provider-attempts.ts';

/**
 * A request's wait for its provider. `taskToken` wakes the execution; `tokenOrder` orders the tokens by the state's entry and
 * retries. `waitingSince` is the start of the wait under this token, `queriedAt` the last query, `calledBackAt` the provider's
 * last callback. `callbackQueryAt` is the last query for a callback; `callbackQueryIsPlanned` says whether the query is still to
 * come, which its time cannot tell across differing clocks. The provider asked for no query until `notBefore`.
 */
export const ProviderWait = z.object({
  requestId: z.string(),
  taskToken: z.optional(z.string()),
  tokenOrder: z.optional(z.string()),
  waitingSince: z.optional(z.string()),
  queriedAt: z.optional(z.string()),
  calledBackAt: z.optional(z.string()),
  callbackQueryAt: z.optional(z.string()),
  callbackQueryIsPlanned: z.optional(z.boolean()),
  notBefore: z.optional(z.string()),
});
export type ProviderWait = z.infer<typeof ProviderWait>;

/**
 * Access pattern 50: opens a request's wait, unless it is open, in a transaction that is refused once the request has ended. Nothing else creates
 * the item, so no late event brings it back after a deletion.
 */
export const openWaitWrite = (requestId: string, now: Instant): TransactItem =>
  updateWrite(providerWaitKey(requestId), setAll({ requestId, ...retainedFrom(now) }));

/** Access pattern 49: a request's wait, strongly consistent; undefined before the claim of its first task and after its deletion. */
export const findProviderWait = async (requestId: string): Promise<ProviderWait | undefined> => {
  const item = await getItem(providerWaitKey(requestId));
  return item && ProviderWait.parse(item);
};

/** The entry of a workflow state: its time by the clock of Step Functions, and the retries since. */
export interface StateEntry {
  enteredAt: Instant;
  retries: number;
}

/** A workflow state that waits for an event, and the task token that ends the wait. */
export interface BegunWait extends StateEntry {
  requestId: string;
  taskToken: string;
}

/** Text that sorts as the states were entered and retried. */
export const tokenOrderOf = ({ enteredAt, retries }: StateEntry): string =>
  `${enteredAt}#${String(retries).padStart(4, '0')}`;

/**
 * Access pattern 50: replaces the execution's task token, unless the stored one is newer: a function that was
 * held up must not overwrite the token of the state's next attempt. Keeping a token again does not begin the wait
 * anew. Returns the whole item, as stored; nothing but the id when the request was deleted.
 */
export const keepTaskToken = async (
  requestId: string,
  taskToken: string,
  entry: StateEntry,
  now: Date,
): Promise<ProviderWait> => {
  const guard = { condition: 'attribute_not_exists(tokenOrder) OR tokenOrder < :tokenOrder' };
  const attributes = { taskToken, tokenOrder: tokenOrderOf(entry), waitingSince: toInstant(now) };
  const kept = await changeWait(requestId, attributes, now, guard);
  return kept ?? (await findProviderWait(requestId)) ?? { requestId };
};

/**
 * Access pattern 51: records a callback, for an execution that has not begun to wait, and claims the query that the callback
 * causes. Callbacks cause one query per `seconds`: make the claimed query at the returned `callbackQueryAt`, now or `seconds`
 * after the last query. Undefined when a pending query of another callback serves this callback, or the request was deleted.
 */
export const claimCallbackQuery = async (
  requestId: string,
  seconds: number,
  now: Date,
): Promise<ProviderWait | undefined> => {
  const calledBackAt = toInstant(now);
  const forNow = { calledBackAt, callbackQueryAt: calledBackAt, callbackQueryIsPlanned: false };
  const first = await changeWait(requestId, forNow, now, {
    condition:
      'attribute_not_exists(callbackQueryAt) OR callbackQueryAt <= :before OR callbackQueryAt > :farthest',
    values: { ':before': addSeconds(calledBackAt, -seconds), ':farthest': farthestQuery(now) },
  });
  if (first) return first;
  const stored = await findProviderWait(requestId);
  const last = stored?.callbackQueryAt;
  if (last === undefined || (stored?.callbackQueryIsPlanned && last > calledBackAt)) return undefined;
  const planned = { calledBackAt, callbackQueryAt: addSeconds(last, seconds), callbackQueryIsPlanned: true };
  return changeWait(requestId, planned, now, {
    condition: 'callbackQueryAt = :last',
    values: { ':last': last },
  });
};

/**
 * Access pattern 51: begins the query that a callback planned: callbacks from now on need another one. Returns the whole
 * item; undefined when a later callback has claimed another query, which serves this one too, or the request was deleted.
 */
export const beginCallbackQuery = (
  requestId: string,
  plannedAt: Instant,
  now: Date,
): Promise<ProviderWait | undefined> =>
  changeWait(requestId, { callbackQueryIsPlanned: false }, now, {
    condition: 'callbackQueryAt = :planned',
    values: { ':planned': plannedAt },
  });

/** The condition that the provider did not ask to be left alone, or for no longer than until now. */
const NOT_HELD_OFF = 'attribute_not_exists(notBefore) OR notBefore <= :now OR notBefore > :farthest';

/** An instant of a query, or until when queries are held off, beyond this was set by a clock that was ahead, and counts as past. */
const farthestQuery = (now: Date): Instant =>
  toInstant(new Date(latestEndMs(now, MOST_RETRY_AFTER_SECONDS * 1000)));

/** The end of the time without queries that a provider asked for; undefined if over. */
export const heldOffUntil = (notBefore: Instant | undefined, now: Date): Instant | undefined =>
  notBefore !== undefined && notBefore > toInstant(now) && notBefore <= farthestQuery(now)
    ? notBefore
    : undefined;

/**
 * Access pattern 51: records a query. Undefined, refused, when the provider asked not to be queried before later, unless
 * the query `mustBeMade`. The query of a request without a wait is not refused, and not recorded: that request was deleted, or claimed by a
 * version that opened no wait.
 */
export const recordQuery = async (
  requestId: string,
  now: Date,
  mustBeMade: boolean,
): Promise<ProviderWait | undefined> => {
  const queriedAt = toInstant(now);
  const guard = mustBeMade
    ? {}
    : { condition: NOT_HELD_OFF, values: { ':now': queriedAt, ':farthest': farthestQuery(now) } };
  const recorded = await changeWait(requestId, { queriedAt }, now, guard);
  if (recorded) return recorded;
  return (await findProviderWait(requestId)) ? undefined : { requestId };
};

/** Access pattern 51: holds off queries until an instant, because the provider asked for it. Does nothing when the request was deleted. */
export const holdOffQueries = async (requestId: string, notBefore: Instant, now: Date): Promise<void> => {
  await changeWait(requestId, { notBefore }, now);
};

/** Whether `claimQuery` would be refused: the provider was queried within the last `seconds`, or asked to be queried later. */
export const queriedWithin = (
  { queriedAt = '', notBefore }: Partial<ProviderWait> = {},
  seconds: number,
  now: Date,
): boolean =>
  (queriedAt > addSeconds(toInstant(now), -seconds) && queriedAt <= farthestQuery(now)) ||
  heldOffUntil(notBefore, now) !== undefined;

/**
 * Access pattern 51: claims a query and records it. Returns the whole item; undefined, refused, if the provider
 * was queried within the last `seconds` or asked not to be queried before later, or the request was deleted.
 */
export const claimQuery = (
  requestId: string,
  seconds: number,
  now: Date,
): Promise<ProviderWait | undefined> =>
  changeWait(requestId, { queriedAt: toInstant(now) }, now, {
    condition: `(attribute_not_exists(queriedAt) OR queriedAt <= :before OR queriedAt > :farthest) AND (${NOT_HELD_OFF})`,
    values: {
      ':before': addSeconds(toInstant(now), -seconds),
      ':now': toInstant(now),
      ':farthest': farthestQuery(now),
    },
  });

/** Changes a wait that is open. Returns the whole item; undefined when there is none, or the guard refuses. */
const changeWait = async (
  requestId: string,
  attributes: Record<string, Instant | boolean>,
  now: Date,
  guard: { condition?: string; values?: Record<string, string> } = {},
): Promise<ProviderWait | undefined> => {
  const update = setAll({ ...attributes, ...retainedFrom(toInstant(now)) }, guard.values);
  const item = await updateExisting(providerWaitKey(requestId), {
    ...update,
    ConditionExpression: guard.condition,
  });
  return item && ProviderWait.parse(item);
};

/** The end of an item's retention. */
const retainedFrom = (now: Instant) => ({
  [TTL_ATTRIBUTE]: toEpochSeconds(now) + ATTEMPT_RETENTION_SECONDS,
});
