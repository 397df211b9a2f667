import { returnPermit } from '../admission/admission.ts';
import {
  eachQueueEntry,
  findOldestQueueEntry,
  listWaitingAccounts,
  type QueueEntry,
  recordServed,
  removeQueueEntry,
  removeWaitingAccount,
  type WaitingAccount,
} from '../admission/queue-entries.ts';
import {
  chooseAccount,
  hasRoom,
  isLimited,
  type RouteLimit,
  type RouteLimitState,
  runningOf,
  weightOf,
} from '../admission/route-limit-rules.ts';
import { type Queue, takePermitFor, unmarkQueued } from '../admission/route-limits.ts';
import { admitToDispatch } from '../executions/executions.ts';
import { logger } from '../observability.ts';
import { routesOf } from '../provider-calls/model-routes.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { checkQueuedAt, findRequest, findRequests } from '../requests/requests.ts';
import { isPaused, mayTry, type RouteState, UNPAUSED } from '../route-pauses/pause-rules.ts';
import { dueListOf } from '../table/keys.ts';
import { type Clock, toInstant } from '../time.ts';

/** Most accounts with permits that are checked in one tick. */
const AT_ONCE = 12;
/** Most elements of a list in a tick; the following elements come in the next tick. */
const inTurn = <T>(all: readonly T[], tick: number): T[] => {
  const from = all.length > AT_ONCE ? (tick * AT_ONCE) % all.length : 0;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, AT_ONCE);
};

/** The limit of a route at which requests queue, as read before its accounts. */
export type QueuedState = RouteLimitState & { queued: string };
export const isQueued = (state: RouteLimitState | undefined): state is QueuedState =>
  state?.queued !== undefined;

/** Options of admitting requests. */
export interface AdmitOptions {
  clock: Clock;
  /** The number of the tick: each checks the next accounts of a long queue. */
  tick: number;
  /** Most requests to admit or wake; no limit by default. */
  most?: number;
  /** Wakes the execution that waits under a task token; false when none does. */
  wake?: (taskToken: string) => Promise<boolean>;
}

/**
 * Admits the queued requests of a route while there is room for the next one. Admits the oldest readable request of the account
 * that `chooseAccount` returns. A request with more calls than there is room for keeps its turn until there is room. An
 * unreadable request is passed over: its execution ends and refunds the request at the queue deadline.
 *
 * 1. Wake the requests that have a permit: the run that admitted the request died, or the request waits under a newer token.
 *    Remove accounts without a waiting request, also while the route is full: otherwise the loop would keep running with no
 *    request waiting. At most 12 accounts in a tick, in turn.
 * 2. Once a minute, release the permits of closed requests: a dispatch that died took one after the closing.
 * 3. Take a permit for the next request and record it on the queue entry, in one transaction. Then wake the request and take it out of
 *    the queue.
 */
export const admitWaiting = async (
  limit: RouteLimit,
  seen: QueuedState,
  options: AdmitOptions,
): Promise<void> => {
  const accounts = await listWaitingAccounts(limit.name);
  if (accounts.length === 0) await unmarkQueued(limit.name, seen.queued);
  else await new Admission(limit, { seen, accounts, options }).admit();
};

/** Ticks between two comparisons of permits with their requests: a minute. */
const TICKS_PER_COMPARISON = 30;

/** Whether a request has ended, and nothing is left to do about it. */
const isClosed = (request: StoredRequest): boolean =>
  isTerminal(request) && dueListOf(request.GSI1PK) !== 'CHECK';

/** One admission at a route, with its state and accounts as far as they are known. */
class Admission {
  private readonly limit: RouteLimit;
  private readonly options: AdmitOptions;
  private accounts: WaitingAccount[];
  private state: RouteLimitState;

  constructor(
    limit: RouteLimit,
    { seen, accounts, options }: { seen: RouteLimitState; accounts: WaitingAccount[]; options: AdmitOptions },
  ) {
    this.limit = limit;
    this.options = options;
    this.accounts = accounts;
    this.state = seen;
  }

  async admit(): Promise<void> {
    const { tick, most = Number.POSITIVE_INFINITY } = this.options;
    const running = runningOf(this.state);
    const withPermits = this.accounts.filter(({ accountId }) => running.has(accountId));
    for (const account of inTurn(withPermits, tick)) await this.nextOf(account);
    if (tick % TICKS_PER_COMPARISON === 0) await this.releaseLate();
    for (let admitted = 0; admitted < most; ) {
      const account = this.hasRoom(1) ? chooseAccount(this.accounts, runningOf(this.state)) : undefined;
      if (!account) return;
      const head = await this.nextOf(account);
      if (!head) continue;
      // The limit may have become smaller since the request began to wait.
      const entry = { ...head, weight: weightOf(head.weight, this.limit) };
      if (!this.hasRoom(entry.weight) || !(await this.take(entry, account))) return;
      admitted++;
    }
  }

  private hasRoom(weight: number): boolean {
    return hasRoom(this.limit, this.state, weight, this.options.clock.now().getTime());
  }

  /** The next request of an account, if it has to take a permit. An account without a request to admit is skipped from now on. */
  private async nextOf(account: WaitingAccount): Promise<QueueEntry | undefined> {
    const { name } = this.limit;
    const head = await findOldestQueueEntry(name, account.accountId);
    if (!head) await removeWaitingAccount(name, account);
    // One whose permit cannot be read could not take another. The other accounts must not wait for it.
    if (!head || head === 'unreadable' || this.state.unreadable.has(head.requestId)) {
      this.accounts = this.accounts.filter((one) => one !== account);
      return undefined;
    }
    const hasPermit = head.admittedMs !== undefined || this.state.permits.has(head.requestId);
    if (!hasPermit) return head;
    await wakeQueued(name, head, this.options);
    return undefined;
  }

  /** Gives a queued request a permit and wakes it. False when the route limit or the queue entry has changed: the next tick reads both. */
  private async take(entry: QueueEntry, account: WaitingAccount): Promise<boolean> {
    const { clock } = this.options;
    const { name } = this.limit;
    const after = await takePermitFor(this.limit, entry, this.state, clock.now());
    if (!after) return false;
    this.state = after;
    await wakeQueued(name, entry, this.options);
    const servedAt = toInstant(clock.now());
    await recordServed(name, account.accountId, clock.now());
    this.accounts = this.accounts.map((one) => (one === account ? { ...one, servedAt } : one));
    return true;
  }

  /** Releases the permits of requests that are closed or deleted. A closing that is under way releases its own. */
  private async releaseLate(): Promise<void> {
    const { clock } = this.options;
    const { requests, unreadable } = await findRequests([...this.state.permits.keys()]);
    const unclosed = requests.filter((request) => !isClosed(request)).map(({ requestId }) => requestId);
    const kept = new Set([...unclosed, ...unreadable]);
    for (const [requestId, permit] of this.state.permits) {
      if (kept.has(requestId)) continue;
      logger.warn('a permit outlived its request', { requestId, route: this.limit.name });
      const left = await returnPermit(this.limit.name, { ...permit, requestId }, clock);
      this.state = left ?? this.state;
    }
  }
}

/** Wakes a waiting request and takes it out of the queue, unless it waits under a newer token by now. */
const wakeQueued = async (
  route: string,
  entry: QueueEntry,
  { clock, wake = admitToDispatch }: AdmitOptions,
): Promise<void> => {
  const woken = await wake(entry.taskToken);
  const isRemoved = await removeQueueEntry(route, entry);
  if (woken || !isRemoved) return;
  logger.warn('a request whose turn came did not wait', { requestId: entry.requestId, route });
  const { requestId } = entry;
  const request = await findRequest(requestId);
  // Its execution may be lost.
  if (request && !isTerminal(request)) await checkQueuedAt(requestId, toInstant(clock.now()));
  // It was closed before it got its permit.
  else await returnPermit(route, entry, clock);
};

/**
 * Wakes requests that queue at a route, the oldest of an account first, all unless `isChosen` says otherwise: they are dispatched where a route
 * leads now. Once none is left, the route is free for newcomers. Returns how many were woken.
 */
export const drainQueue = async (
  route: string,
  { queued }: QueuedState,
  options: AdmitOptions,
  isChosen: (entry: QueueEntry) => boolean = () => true,
): Promise<number> => {
  const accounts = await listWaitingAccounts(route);
  let [woken, left] = [0, 0];
  for await (const entry of eachQueueEntry(route)) {
    if (woken === options.most) return woken;
    if (isChosen(entry)) {
      await wakeQueued(route, entry, options);
      woken++;
    } else left++;
  }
  if (left > 0) return woken;
  for (const account of accounts) await removeWaitingAccount(route, account);
  await unmarkQueued(route, queued);
  return woken;
};

/** Requests of a paused route are woken so many at once, to go to another route. */
export const REROUTED_AT_ONCE = 10;

/** Ticks between two wakes of a request for a trial of another route, which may be full: each wake costs transitions. */
const TICKS_PER_TRY = 10;

/**
 * Reroutes up to 10 requests that wait for a paused route. If no other route accepts a request, admits a request as a trial of
 * this route once the pause is over. Every 10 ticks, also wakes a request for a trial of another paused route. Reads no queue
 * while nothing can be done. `states` has this route and the other routes by name.
 */
export const rerouteWaiting = async (
  { limit, models, others }: Queue,
  seen: QueuedState,
  states: ReadonlyMap<string, RouteState>,
  options: AdmitOptions,
): Promise<void> => {
  const now = options.clock.now();
  const stateOf = (name: string): RouteState => states.get(name) ?? UNPAUSED;
  const areSeveral = models.every((model) => routesOf(model).length > 1);
  const wakeFor = async (suits: (other: RouteState) => boolean, most: number): Promise<number> => {
    const isSuited = (name: string): boolean => name !== limit.name && suits(stateOf(name));
    if (!others.some(isSuited)) return 0;
    // A queue entry names the routes of its model when it began to wait, if there were several. It may have others by now.
    const choosesAgain = ({ routes }: QueueEntry): boolean => routes?.some(isSuited) ?? areSeveral;
    return drainQueue(limit.name, seen, { ...options, most }, choosesAgain);
  };
  if ((await wakeFor((other) => !isPaused(other), REROUTED_AT_ONCE)) > 0) return;
  const isToTry = mayTry(stateOf(limit.name), now);
  if (isToTry && !isLimited(limit)) {
    await drainQueue(limit.name, seen, { ...options, most: 1 });
    return;
  }
  if (options.tick % TICKS_PER_TRY === 0) await wakeFor((other) => mayTry(other, now), 1);
  if (isToTry) await admitWaiting(limit, seen, { ...options, most: 1 });
};
