import { createHash, randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../clock.ts';
import { logger } from '../observability.ts';
import { type InFlightKind, type ItemKey, inFlightKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import { writeOnCondition, writeUnlessRefused } from '../table/transactions.ts';
import { SECONDS_PER_DAY } from '../time.ts';

/**
 * How many calls of a kind may be under way at once for an account, in all or to one host. Each call holds one of
 * `places` under a lease. A holder that dies frees its place when the lease ends, so the lease must outlast the call.
 */
export interface InFlightLimit {
  key: ItemKey;
  places: number;
  leaseSeconds: number;
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

/** A short digest of the host that a URL names, port included. */
export const hostDigest = (url: string): string =>
  createHash('sha256')
    .update(URL.parse(url)?.host.replace(/\.(?=:|$)/, '') ?? url)
    .digest('hex')
    .slice(0, 32);

/** The outcome of work under limits: its result, or that a limit had no place and it did not run. */
export type WithinLimits<T> = { ran: true; result: T } | { ran: false };

/**
 * Runs `work` while holding a place of every limit, and frees them afterwards. Takes no place twice, and none when one
 * of the limits is full. Throws what `work` throws.
 */
export const withinLimits = async <T>(
  limits: readonly InFlightLimit[],
  clock: Clock,
  work: () => Promise<T>,
): Promise<WithinLimits<T>> => {
  const held: HeldPlace[] = [];
  try {
    for (const limit of limits) {
      const place = await takePlace(limit, clock.now());
      if (!place) return { ran: false };
      held.push(place);
    }
    return { ran: true, result: await work() };
  } finally {
    await Promise.all(held.map(freeQuietly));
  }
};

/** A place of a limit, and by which id it is held. */
interface HeldPlace {
  key: ItemKey;
  attribute: string;
  holder: string;
}

/** Attempts to take a place: each further one follows another caller who took the place that was found free. */
const MAX_ATTEMPTS = 10;

/**
 * Access pattern 100: takes a place of a limit, free or past its lease; undefined when all are held. After ten
 * attempts it counts as full.
 */
export const takePlace = async (limit: InFlightLimit, now: Date): Promise<HeldPlace | undefined> => {
  const holder = randomUUID();
  let index: number | undefined = Math.floor(Math.random() * limit.places);
  for (let attempt = 0; attempt < MAX_ATTEMPTS && index !== undefined; attempt++) {
    const attribute = attributeOf(index);
    const refused = await updatePlace(limit, attribute, holder, now);
    if (!refused) return { key: limit.key, attribute, holder };
    index = freePlaceOf(refused.item, limit, now);
  }
  return undefined;
};

const attributeOf = (index: number): string => `place${index}`;

/** A free place of the item, chosen at random so that callers who collided do not collide again. */
const freePlaceOf = (item: StoredItem, { places }: InFlightLimit, now: Date): number | undefined => {
  const free = Array.from({ length: places }, (_, index) => index).filter((index) => {
    const lease = item[attributeOf(index)] as { heldUntil: number } | undefined;
    return lease === undefined || lease.heldUntil <= now.getTime();
  });
  return free[Math.floor(Math.random() * free.length)];
};

const updatePlace = async (
  { key, leaseSeconds }: InFlightLimit,
  attribute: string,
  holder: string,
  now: Date,
): Promise<{ item: StoredItem } | undefined> => {
  const heldUntil = now.getTime() + leaseSeconds * 1000;
  const { done, item = {} } = await writeOnCondition(
    new UpdateCommand({
      TableName: tableName(),
      Key: key,
      UpdateExpression: 'SET #place = :lease, #ttl = :ttl',
      // A repeat of this update, whose answer was lost, finds its own lease.
      ConditionExpression:
        'attribute_not_exists(#place) OR #place.heldUntil <= :now OR #place.holder = :holder',
      ExpressionAttributeNames: { '#place': attribute, '#ttl': TTL_ATTRIBUTE },
      ExpressionAttributeValues: {
        ':lease': { holder, heldUntil },
        ':holder': holder,
        ':now': now.getTime(),
        ':ttl': Math.ceil(heldUntil / 1000) + SECONDS_PER_DAY,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return done ? undefined : { item };
};

/** Access pattern 101: frees a place, unless its lease has ended and another holds it. Repeating it is harmless. */
export const freePlace = async ({ key, attribute, holder }: HeldPlace): Promise<void> => {
  await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: key,
      UpdateExpression: 'REMOVE #place',
      ConditionExpression: '#place.holder = :holder',
      ExpressionAttributeNames: { '#place': attribute },
      ExpressionAttributeValues: { ':holder': holder },
    }),
  );
};

/** A place that could not be freed is free when its lease ends, and the work is done. */
const freeQuietly = async (place: HeldPlace): Promise<void> => {
  try {
    await freePlace(place);
  } catch (error) {
    logger.warn('a place could not be freed', { error: error as Error });
  }
};
