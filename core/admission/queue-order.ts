import {
  eachQueueEntry,
  listWaitingAccounts,
  type QueueEntry,
  type WaitingAccount,
} from './queue-entries.ts';
import { chooseAccount, runningOf } from './route-limit-rules.ts';
import { findRouteLimit, readRouteLimits } from './route-limits.ts';

/** The queue of a route, as it would be admitted if no request came and no call ended. */
export interface RouteQueue {
  /** Ids of the queued requests, the next one first. */
  order: readonly string[];
  /** Calls and tasks under way, and the most that may be; undefined without a limit. */
  running: number | undefined;
  permits: number | undefined;
}

/** Most queued requests that are put in order. */
const MOST_ORDERED = 1_000;

/** The ids of queued requests in the order of their admission: the accounts in turn, each with its oldest request. */
export const admissionOrder = (
  entries: readonly QueueEntry[],
  accounts: readonly WaitingAccount[],
  running: ReadonlyMap<string, number>,
): string[] => {
  const left = Map.groupBy(
    entries.filter(({ admittedMs }) => admittedMs === undefined),
    ({ accountId }) => accountId,
  );
  const servedAt = new Map(accounts.map((account) => [account.accountId, account.servedAt]));
  const calls = new Map(running);
  const order: string[] = [];
  for (;;) {
    const waiting = [...left.keys()].map((accountId) => ({
      ...{ accountId, touched: '', servedAt: servedAt.get(accountId) ?? '' },
    }));
    const chosen = chooseAccount(waiting, calls);
    if (!chosen) return order;
    const { accountId } = chosen;
    const queued = left.get(accountId) ?? [];
    const next = queued.shift();
    if (queued.length === 0) left.delete(accountId);
    if (!next) continue;
    order.push(next.requestId);
    calls.set(accountId, (calls.get(accountId) ?? 0) + next.weight);
    // After every instant, and after those served before.
    servedAt.set(accountId, `~${String(order.length).padStart(9, '0')}`);
  }
};

/** Access patterns 60, 66 and 68: the queue of a route, for operators: reads up to 1,000 queued requests. */
export const readRouteQueue = async (route: string): Promise<RouteQueue> => {
  const entries: QueueEntry[] = [];
  const [accounts, [state]] = await Promise.all([listWaitingAccounts(route), readRouteLimits([route])]);
  for await (const entry of eachQueueEntry(route)) {
    entries.push(entry);
    if (entries.length === MOST_ORDERED) break;
  }
  const running = state ? runningOf(state) : new Map<string, number>();
  const permits = findRouteLimit(route)?.permits;
  return {
    order: admissionOrder(entries, accounts, running),
    running: permits === undefined ? undefined : state?.used,
    permits,
  };
};
