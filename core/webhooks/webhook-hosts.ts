import * as z from 'zod/mini';
import { hostDigest } from '../concurrency/in-flight.ts';
import { readableItems } from '../observability.ts';
import { type ItemKey, TTL_ATTRIBUTE, webhookHostKey } from '../table/keys.ts';
import { getItem, setAll, updateOf } from '../table/table.ts';
import { writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, latestEndMs, SECONDS_PER_DAY, toEpochSeconds, toInstant } from '../time.ts';
import { backOffSeconds } from './webhook-rules.ts';

/**
 * An account's back-off from a host that hung: the number of hangs in a row, and the instant of the next call, one call at a
 * time.
 */
const HostBackOff = z.object({ hangs: z.number(), notBefore: z.string(), ttl: z.number() });
export type HostBackOff = Pick<z.infer<typeof HostBackOff>, 'hangs' | 'notBefore'>;

/** A host that was not called for a day after its back-off counts as new. */
const FORGOTTEN_AFTER_SECONDS = SECONDS_PER_DAY;

/** The item of an account and the host of a URL. */
const hostKey = (accountId: string, url: string): ItemKey => webhookHostKey(accountId, hostDigest(url));

/** Access pattern 58: how the host of a URL hangs for an account, strongly consistent; undefined when it answers, or cannot be read. */
export const findHostBackOff = async (
  accountId: string,
  url: string,
  now: Date,
): Promise<HostBackOff | undefined> => {
  const item = await getItem(hostKey(accountId, url));
  if (item?.hangs === undefined) return undefined;
  const [found] = readableItems([item], (item) => HostBackOff.parse(item));
  if (!found) return undefined;
  const { ttl, hangs, notBefore } = found;
  if (ttl <= toEpochSeconds(toInstant(now))) return undefined;
  // A clock that was ahead does not keep the host from being called.
  const isBelievable = Date.parse(notBefore) <= latestEndMs(now, backOffSeconds(hangs) * 1000);
  return { hangs, notBefore: isBelievable ? notBefore : toInstant(now) };
};

/**
 * Access pattern 59: backs off from a host that hung for an account, twice as long as after it hung before. Other accounts go on calling it.
 * `seen` is the back-off at the start of the attempt: of attempts that hang at the same time, one counts.
 */
export const backOffFrom = async (
  accountId: string,
  url: string,
  seen: HostBackOff | undefined,
  now: Date,
): Promise<void> => {
  const hangs = (seen?.hangs ?? 0) + 1;
  const notBefore = addSeconds(toInstant(now), backOffSeconds(hangs));
  const item = { hangs, notBefore, [TTL_ATTRIBUTE]: toEpochSeconds(notBefore) + FORGOTTEN_AFTER_SECONDS };
  const [ConditionExpression, values] = seen
    ? ['#hangs = :seen', { ':seen': seen.hangs }]
    : [
        'attribute_not_exists(#hangs) OR #ttl <= :nowSeconds',
        { ':nowSeconds': toEpochSeconds(toInstant(now)) },
      ];
  await writeUnlessRefused(
    updateOf(hostKey(accountId, url), { ...setAll(item, values), ConditionExpression }),
  );
};

/** Access pattern 59: ends an account's back-off from a host that answered, unless it has hung again since `seen`. */
export const endBackOff = async (accountId: string, url: string, seen: HostBackOff): Promise<void> => {
  await writeUnlessRefused(
    updateOf(hostKey(accountId, url), {
      UpdateExpression: 'REMOVE hangs, notBefore',
      ConditionExpression: 'hangs = :seen',
      ExpressionAttributeValues: { ':seen': seen.hangs },
    }),
  );
};
