import { createHash, randomUUID } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import { runOrLog } from '../observability.ts';
import { type InFlightKind, type ItemKey, inFlightKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { type StoredItem, updateOf } from '../table/table.ts';
import { writeOnCondition, writeUnlessRefused } from '../table/transactions.ts';
import { CLOCK_SKEW_MS, type Clock, latestEndMs, SECONDS_PER_DAY } from '../time.ts';
import { hourOf, secondsToNextHour, type WorkAllowance } from './work-allowance.ts';

/**
 * A limit on an account's calls of a kind under way at once, in all or to one host. A call holds one of `slots` under a lease. A
 * holder that dies frees its slot when the lease ends, so the lease must outlast the call.
 */
export interface InFlightLimit {
  key: ItemKey;
  slots: number;
  leaseSeconds: number;
  /** Used by taking a slot, in the same update, and given back with the slot when the work cost nothing. */
  allowance?: WorkAllowance;
}

/** The limit of an account. */
export const accountLimit = (
  kind: InFlightKind,
  accountId: string,
  limit: Omit<InFlightLimit, 'key'>,
): InFlightLimit => ({ ...limit, key: inFlightKey(kind, `ACCOUNT#${accountId}`) });

/** The limit of an account's calls to the host that a URL names, port included. */
export const hostLimit = (
  kind: InFlightKind,
  accountId: string,
  url: string,
  limit: Omit<InFlightLimit, 'key'>,
): InFlightLimit => ({ ...limit, key: inFlightKey(kind, `ACCOUNT#${accountId}#HOST#${hostDigest(url)}`) });

/** A limit, or its parts: a slot of one of them is enough. */
export type DividedLimit = InFlightLimit | readonly InFlightLimit[];

/** A short digest of the host that a URL names, port included. */
export const hostDigest = (url: string): string =>
  createHash('sha256')
    .update(URL.parse(url)?.host.replace(/\.(?=:|$)/, '') ?? url)
    .digest('hex')
    .slice(0, 32);

/**
 * Runs `work` while holding a slot of every limit, and frees them afterwards; undefined, and `work` does not run, when one of the limits
 * has no slot. Throws what `work` throws, and `ServiceError` with `rate_limited` when an allowance is used up.
 */
export const withinLimits = async <T>(
  limits: readonly DividedLimit[],
  clock: Clock,
  work: () => Promise<T>,
): Promise<{ result: T } | undefined> => {
  const held: HeldSlot[] = [];
  // Work that never began used no allowance.
  let free: (slot: HeldSlot) => boolean = ({ isFree }) => isFree !== undefined;
  try {
    for (const limit of limits) {
      const slot = await takeAnySlot([limit].flat(), clock.now());
      if (!slot) return undefined;
      held.push(slot);
    }
    free = () => false;
    return { result: await work() };
  } catch (error) {
    free = ({ isFree }) => isFree?.(error) ?? false;
    throw error;
  } finally {
    await Promise.all(held.map((slot) => freeOrLog(slot, free(slot))));
  }
};

/** As `withinLimits`; throws `full` when one of the limits has no slot. */
export const withSlots = async <T>(
  limits: readonly DividedLimit[],
  clock: Clock,
  full: () => Error,
  work: () => Promise<T>,
): Promise<T> => {
  const within = await withinLimits(limits, clock, work);
  if (!within) throw full();
  return within.result;
};

/** The refusal of a call for which there is no slot now. */
export const tooManyAtOnce = (message: string, retryAfterSeconds: number): ServiceError =>
  new ServiceError('rate_limited', message, { retryAfterSeconds });

/** A slot of a limit, and by which id it is held. */
interface HeldSlot {
  key: ItemKey;
  attribute: string;
  holder: string;
  /** For a slot that used an allowance: the errors that return the allowance. */
  isFree?: WorkAllowance['isFree'] | undefined;
}

const takeAnySlot = async (parts: readonly InFlightLimit[], now: Date): Promise<HeldSlot | undefined> => {
  for (const part of parts) {
    const slot = await takeSlot(part, now);
    if (slot) return slot;
  }
  return undefined;
};

/** Attempts to take a slot. An attempt fails when another caller took the slot that was found free, or a new hour began. */
const MAX_ATTEMPTS = 10;

/**
 * Access pattern 57: takes a slot of a limit, free or past its lease, and uses the allowance; undefined when every slot is held.
 * After ten attempts it counts as full. Throws `ServiceError` with `rate_limited` when the allowance of the hour is used up.
 */
export const takeSlot = async (limit: InFlightLimit, now: Date): Promise<HeldSlot | undefined> => {
  const { key, allowance } = limit;
  const holder = randomUUID();
  let spending = allowance && firstGuess(allowance, now);
  let index: number | undefined = Math.floor(Math.random() * limit.slots);
  for (let attempt = 0; attempt < MAX_ATTEMPTS && index !== undefined; attempt++) {
    const attribute = attributeOf(index);
    const refused = await updateSlot(limit, attribute, { holder, now, spending });
    // A repeat of an update whose answer was lost is refused by its own lease.
    if (!refused || leaseOf(refused.item, attribute)?.holder === holder)
      return { key, attribute, holder, isFree: allowance?.isFree };
    spending = allowance && spendingOf(refused.item, allowance, now);
    index = freeSlotOf(refused.item, limit, now);
  }
  return undefined;
};

/** The update of an allowance by a use: the first use in an hour, or a further use while at most `most` are used. */
type Spending = { hour: number; most?: number };

const firstGuess = ({ earnedHour, most }: WorkAllowance, now: Date): Spending => {
  const hour = hourOf(now);
  return earnedHour === hour ? { hour, most: most(hour) } : { hour };
};

/** The way that fits the item as stored. Another process may be in the next hour already. */
const spendingOf = (item: StoredItem, allowance: WorkAllowance, now: Date): Spending => {
  const { spentHour = 0, spent = 0 } = item as { spentHour?: number; spent?: number };
  // Later hours were used by a clock that was ahead.
  const hour = spentHour > latestHourOf(now) ? hourOf(now) : Math.max(hourOf(now), spentHour);
  if (spentHour !== hour) return { hour };
  const most = allowance.most(hour);
  if (spent >= most) throw tooManyAtOnce(allowance.usedUp, secondsToNextHour(now));
  return { hour, most };
};

/** The hour that another process may be in already. */
const latestHourOf = (now: Date): number => hourOf(new Date(now.getTime() + CLOCK_SKEW_MS));

const attributeOf = (index: number): string => `slot${index}`;

/** A free slot of the item, chosen at random so that callers who collided do not collide again. */
const freeSlotOf = (
  item: StoredItem,
  { slots, leaseSeconds }: InFlightLimit,
  now: Date,
): number | undefined => {
  const free = Array.from({ length: slots }, (_, index) => index).filter((index) => {
    const lease = leaseOf(item, attributeOf(index));
    if (lease === undefined || lease.heldUntil <= now.getTime()) return true;
    return lease.heldUntil > latestEndMs(now, leaseSeconds * 1000);
  });
  return free[Math.floor(Math.random() * free.length)];
};

const leaseOf = (item: StoredItem, attribute: string) =>
  item[attribute] as { holder: string; heldUntil: number } | undefined;

const updateSlot = async (
  { key, leaseSeconds }: InFlightLimit,
  attribute: string,
  { holder, now, spending }: { holder: string; now: Date; spending: Spending | undefined },
): Promise<{ item: StoredItem } | undefined> => {
  const heldUntil = now.getTime() + leaseSeconds * 1000;
  const spend = spending && spendingExpressions(spending, latestHourOf(now));
  const { done, item = {} } = await writeOnCondition(
    updateOf(key, {
      UpdateExpression: `SET #slot = :lease, #ttl = :ttl${spend?.update ?? ''}`,
      ConditionExpression: `(attribute_not_exists(#slot) OR #slot.heldUntil <= :now OR #slot.heldUntil > :latest)${spend?.condition ?? ''}`,
      ExpressionAttributeNames: { '#slot': attribute, '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: {
        ':lease': { holder, heldUntil },
        ':now': now.getTime(),
        ':latest': latestEndMs(now, leaseSeconds * 1000),
        ':ttl': Math.ceil(heldUntil / 1000) + SECONDS_PER_DAY,
        ...spend?.values,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return done ? undefined : { item };
};

/** DynamoDB has no `max`, so the update has a form for the first use in an hour and a form for later uses. */
const spendingExpressions = ({ hour, most }: Spending, latestHour: number) =>
  most === undefined
    ? {
        update: ', spentHour = :hour, spent = :one',
        condition: ' AND (attribute_not_exists(spentHour) OR spentHour < :hour OR spentHour > :latestHour)',
        values: { ':hour': hour, ':one': 1, ':latestHour': latestHour },
      }
    : {
        update: ', spent = spent + :one',
        condition: ' AND spentHour = :hour AND spent < :most',
        values: { ':hour': hour, ':one': 1, ':most': most },
      };

/**
 * Access pattern 57: frees a slot, unless its lease has ended and another call holds the slot. With `giveBack`, returns the
 * allowance that the call used. Repeating it is harmless.
 */
export const freeSlot = async ({ key, attribute, holder }: HeldSlot, giveBack = false): Promise<void> => {
  await writeUnlessRefused(
    updateOf(key, {
      UpdateExpression: `REMOVE #slot${giveBack ? ' SET spent = spent - :one' : ''}`,
      ConditionExpression: '#slot.holder = :holder',
      ExpressionAttributeNames: { '#slot': attribute },
      ExpressionAttributeValues: { ':holder': holder, ...(giveBack && { ':one': 1 }) },
    }),
  );
};

/** A slot that could not be freed is free when its lease ends, and the work is done. */
const freeOrLog = (slot: HeldSlot, giveBack: boolean): Promise<void> =>
  runOrLog({ message: 'a slot could not be freed', level: 'warn' }, () => freeSlot(slot, giveBack));
