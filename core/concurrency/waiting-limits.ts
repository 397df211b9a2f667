import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientOptions } from '../aws-clients.ts';
import { cachedFor } from '../cached.ts';
import { runOrLog } from '../observability.ts';
import { type InFlightKind, inFlightKey } from '../table/keys.ts';
import { accountLimit, type DividedLimit, type InFlightLimit } from './in-flight.ts';

/** Waiting calls of all accounts together may hold at most a fifth of the Lambda concurrency. */
const SHARE = 5;
/** Executions at once in a new AWS account. */
const SMALLEST_QUOTA = 10;
/** Slots in an item of the table: its writes stay below 1 KB. */
const SLOTS_PER_ITEM = 10;
/** Items that a call looks for a slot in. */
const MOST_ITEMS = 3;

const lambda = new LambdaClient(clientOptions('invocations'));

/** The quota is read once in a process: it only changes by an operator's request. */
const QUOTA_SECONDS = 3_600;

/** The functions that may run at once without reserved concurrency. */
const executionsAtOnce = cachedFor(QUOTA_SECONDS, async () => {
  const { AccountLimit = {} } = await lambda.send(new GetAccountSettingsCommand());
  const { UnreservedConcurrentExecutions, ConcurrentExecutions = SMALLEST_QUOTA } = AccountLimit;
  return UnreservedConcurrentExecutions ?? ConcurrentExecutions;
});

/** A limit on calls that wait. All accounts have `inAll` slots, by default a fifth of the executions at once. */
export interface WaitingLimit extends Omit<InFlightLimit, 'key'> {
  inAll?: number | undefined;
}

/**
 * The limits on calls that wait in a function for another function's work, so that the work always finds a free function. An
 * account has `slots`, at most half the slots of all accounts together.
 */
export const waitingLimits = async (
  kind: InFlightKind,
  accountId: string,
  { inAll, ...limit }: WaitingLimit,
  now: Date,
): Promise<DividedLimit[]> => {
  const all = inAll ?? atLeastOne((await quota(now)) / SHARE);
  const slots = Math.min(limit.slots, atLeastOne(all / 2));
  return [accountLimit(kind, accountId, { ...limit, slots }), limitsInAll(kind, all, limit.leaseSeconds)];
};

const quota = (now: Date): Promise<number> =>
  runOrLog(
    { message: 'the concurrency of the AWS account could not be read', level: 'warn' },
    () => executionsAtOnce(now),
    () => SMALLEST_QUOTA,
  );

const atLeastOne = (slots: number): number => Math.max(1, Math.floor(slots));

/** A random choice of the items that hold a large limit's slots. A single item would be written too often. */
const limitsInAll = (kind: InFlightKind, slots: number, leaseSeconds: number): InFlightLimit[] => {
  const items = Math.ceil(slots / SLOTS_PER_ITEM);
  const first = Math.floor(Math.random() * items);
  return Array.from({ length: Math.min(items, MOST_ITEMS) }, (_, step) => {
    const index = (first + step) % items;
    const left = slots - index * SLOTS_PER_ITEM;
    return { key: inFlightKey(kind, `ALL#${index}`), slots: Math.min(left, SLOTS_PER_ITEM), leaseSeconds };
  });
};
