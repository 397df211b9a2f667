import { leaveGate } from '../admission/admission.ts';
import {
  chooseAccount,
  type Gate,
  type GateState,
  hasRoom,
  isLimited,
  outlivedPermits,
  runningOf,
  weightOf,
} from '../admission/gate-rules.ts';
import { type Queue, takePermitFor, unmarkQueued } from '../admission/gates.ts';
import {
  eachWaiter,
  findOldestWaiter,
  type GateWaiter,
  listWaitingAccounts,
  recordServed,
  removeWaiter,
  removeWaitingAccount,
  type WaitingAccount,
} from '../admission/waiters.ts';
import { admitToDispatch } from '../executions/executions.ts';
import { logger } from '../observability.ts';
import { routesOf } from '../provider-calls/model-routes.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { checkQueuedAt, findRequest } from '../requests/requests.ts';
import { isPaused, mayTry, type RouteState, UNPAUSED } from '../route-pauses/pause-rules.ts';
import { type Clock, toInstant } from '../time.ts';

/** Most accounts with permits that are checked in one tick. */
const AT_ONCE = 12;
/** So many of a list at most: in each tick the next ones, in turn. */
const inTurn = <T>(all: readonly T[], tick: number): T[] => {
  const from = all.length > AT_ONCE ? (tick * AT_ONCE) % all.length : 0;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, AT_ONCE);
};

/** A gate at which requests wait, as read before its accounts. */
export type QueuedGate = GateState & { queued: string };
export const isQueued = (state: GateState | undefined): state is QueuedGate => state?.queued !== undefined;

/** Options of admitting requests. */
export interface AdmitOptions {
  clock: Clock;
  /** The number of the tick: each checks the next accounts of a large gate. */
  tick: number;
  /** Most requests to admit or wake; no limit by default. */
  most?: number;
  /** Wakes the execution that waits under a task token; false when none does. */
  wake?: (taskToken: string) => Promise<boolean>;
}

/**
 * Admits the waiting requests of a gate while there is room for the next one. Each is chosen by `chooseAccount`, and is the oldest
 * of its account that can be read. A request that needs more calls than there is room for is waited for. A request that cannot be read is
 * passed over: its execution ends and refunds it when its time in the queue ends.
 *
 * 1. Wake the requests that have a permit: the run that admitted them died, or they wait under a newer token. Remove the accounts with
 *    permits that have no waiting request any more, also while the gate is full: otherwise the loop would keep running with no request
 *    waiting. At most 12 accounts in a tick, in turn.
 * 2. Release the permits that have outlived their requests.
 * 3. Take a permit for the next request and record it on the waiter, in one transaction. Then wake the request and take it out of
 *    the queue.
 */
export const admitWaiting = async (gate: Gate, seen: QueuedGate, options: AdmitOptions): Promise<void> => {
  const accounts = await listWaitingAccounts(gate.name);
  if (accounts.length === 0) await unmarkQueued(gate.name, seen.queued);
  else await new Admission(gate, { seen, accounts, options }).admit();
};

/** One admission at a gate, with its state and accounts as far as they are known. */
class Admission {
  private readonly gate: Gate;
  private readonly options: AdmitOptions;
  private accounts: WaitingAccount[];
  private state: GateState;

  constructor(
    gate: Gate,
    { seen, accounts, options }: { seen: GateState; accounts: WaitingAccount[]; options: AdmitOptions },
  ) {
    this.gate = gate;
    this.options = options;
    this.accounts = accounts;
    this.state = seen;
  }

  async admit(): Promise<void> {
    const { tick, most = Number.POSITIVE_INFINITY } = this.options;
    const running = runningOf(this.state);
    const withPermits = this.accounts.filter(({ accountId }) => running.has(accountId));
    for (const account of inTurn(withPermits, tick)) await this.nextOf(account);
    await this.releaseOutlived();
    for (let admitted = 0; admitted < most; ) {
      const account = this.hasRoom(1) ? chooseAccount(this.accounts, runningOf(this.state)) : undefined;
      if (!account) return;
      const head = await this.nextOf(account);
      if (!head) continue;
      // The gate may have become smaller since the request began to wait.
      const waiter = { ...head, weight: weightOf(head.weight, this.gate) };
      if (!this.hasRoom(waiter.weight) || !(await this.take(waiter, account))) return;
      admitted++;
    }
  }

  private hasRoom(weight: number): boolean {
    return hasRoom(this.gate, this.state, weight, this.options.clock.now().getTime());
  }

  /** The next request of an account, if it has to take a permit. An account without a request to admit is left out from now on. */
  private async nextOf(account: WaitingAccount): Promise<GateWaiter | undefined> {
    const { name } = this.gate;
    const head = await findOldestWaiter(name, account.accountId);
    if (!head) await removeWaitingAccount(name, account);
    // One whose permit cannot be read could not take another. The other accounts must not wait for it.
    if (!head || head === 'unreadable' || this.state.unreadable.has(head.requestId)) {
      this.accounts = this.accounts.filter((one) => one !== account);
      return undefined;
    }
    const hasPermit = head.admittedMs !== undefined || this.state.permits.has(head.requestId);
    if (!hasPermit) return head;
    await wakeWaiter(name, head, this.options);
    return undefined;
  }

  /** Gives a waiter a permit and wakes it. False when the gate or the waiter has changed: the next tick reads both. */
  private async take(waiter: GateWaiter, account: WaitingAccount): Promise<boolean> {
    const { clock } = this.options;
    const { name } = this.gate;
    const after = await takePermitFor(this.gate, waiter, this.state, clock.now());
    if (!after) return false;
    this.state = after;
    await wakeWaiter(name, waiter, this.options);
    const servedAt = toInstant(clock.now());
    await recordServed(name, account.accountId, clock.now());
    this.accounts = this.accounts.map((one) => (one === account ? { ...one, servedAt } : one));
    return true;
  }

  private async releaseOutlived(): Promise<void> {
    const { clock } = this.options;
    for (const requestId of outlivedPermits(this.state, clock.now().getTime())) {
      const permit = this.state.permits.get(requestId);
      if (!permit) continue;
      logger.warn('a permit outlived its request', { requestId, gate: this.gate.name });
      const left = await leaveGate(this.gate.name, { ...permit, requestId }, clock, permit.takenMs);
      this.state = left ?? this.state;
    }
  }
}

/** Wakes a waiting request and takes it out of the queue, unless it waits under a newer token by now. */
const wakeWaiter = async (
  gateName: string,
  waiter: GateWaiter,
  { clock, wake = admitToDispatch }: AdmitOptions,
): Promise<void> => {
  const woken = await wake(waiter.taskToken);
  const isRemoved = await removeWaiter(gateName, waiter);
  if (woken || !isRemoved) return;
  logger.warn('a request whose turn came did not wait', { requestId: waiter.requestId, gate: gateName });
  const { requestId } = waiter;
  const request = await findRequest(requestId);
  // Its execution may be lost.
  if (request && !isTerminal(request)) await checkQueuedAt(requestId, toInstant(clock.now()));
  // It was closed before it got its permit.
  else await leaveGate(gateName, waiter, clock);
};

/**
 * Wakes requests that wait at a gate, the oldest of an account first, all unless `isChosen` says otherwise: they are dispatched where a route
 * leads now. Once none is left, the gate is free for newcomers. Returns how many were woken.
 */
export const drainGate = async (
  gateName: string,
  { queued }: QueuedGate,
  options: AdmitOptions,
  isChosen: (waiter: GateWaiter) => boolean = () => true,
): Promise<number> => {
  const accounts = await listWaitingAccounts(gateName);
  let [woken, left] = [0, 0];
  for await (const waiter of eachWaiter(gateName)) {
    if (woken === options.most) return woken;
    if (isChosen(waiter)) {
      await wakeWaiter(gateName, waiter, options);
      woken++;
    } else left++;
  }
  if (left > 0) return woken;
  for (const account of accounts) await removeWaitingAccount(gateName, account);
  await unmarkQueued(gateName, queued);
  return woken;
};

/** Requests of a paused route are woken so many at once, to go to another route. */
export const REROUTED_AT_ONCE = 10;

/** In how many ticks one request is woken to try another route, which may be full: each wake costs transitions. */
const TICKS_PER_TRY = 10;

/**
 * Reroutes up to 10 requests that wait for a paused route. If no other route takes any of them, admits one request to try this route once the
 * pause is over, and every 10 ticks wakes one that may try another. Reads no queue while nothing can be done. `states` are those of the
 * route and the others, by name.
 */
export const rerouteWaiting = async (
  { gate, models, others }: Queue,
  seen: QueuedGate,
  states: ReadonlyMap<string, RouteState>,
  options: AdmitOptions,
): Promise<void> => {
  const now = options.clock.now();
  const stateOf = (name: string): RouteState => states.get(name) ?? UNPAUSED;
  const areSeveral = models.every((model) => routesOf(model).length > 1);
  const wakeFor = async (suits: (other: RouteState) => boolean, most: number): Promise<number> => {
    const isSuited = (name: string): boolean => name !== gate.name && suits(stateOf(name));
    if (!others.some(isSuited)) return 0;
    // A waiter names the routes of its model when it began to wait, if there were several. It may have others by now.
    const choosesAgain = ({ routes }: GateWaiter): boolean => routes?.some(isSuited) ?? areSeveral;
    return drainGate(gate.name, seen, { ...options, most }, choosesAgain);
  };
  if ((await wakeFor((other) => !isPaused(other), REROUTED_AT_ONCE)) > 0) return;
  const isToTry = mayTry(stateOf(gate.name), now);
  if (isToTry && !isLimited(gate)) {
    await drainGate(gate.name, seen, { ...options, most: 1 });
    return;
  }
  if (options.tick % TICKS_PER_TRY === 0) await wakeFor((other) => mayTry(other, now), 1);
  if (isToTry) await admitWaiting(gate, seen, { ...options, most: 1 });
};
