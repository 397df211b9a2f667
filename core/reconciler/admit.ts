import { leaveGate } from '../admission/admission.ts';
import {
  chooseAccount,
  type Gate,
  type GateState,
  gateNameOf,
  hasRoom,
  isLimited,
  isSpare,
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
import { type Circuit, CLOSED, isLeftOut, mayProbe } from '../circuits/circuit-rules.ts';
import { admitToDispatch } from '../executions/executions.ts';
import { logger } from '../observability.ts';
import { latestAttempts } from '../provider-calls/attempt-rules.ts';
import { recordIfDead } from '../provider-calls/dead-calls.ts';
import { routesOf } from '../provider-calls/model-routes.ts';
import { listAttempts } from '../provider-calls/provider-attempts.ts';
import { routeNameOf } from '../provider-names.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { checkQueuedAt, findRequest, findRequests } from '../requests/requests.ts';
import { type Clock, toInstant } from '../time.ts';

/** Most permits, and most accounts with permits, that are looked at in one tick. */
const AT_ONCE = 12;
/** So many of a list at most: in each tick the next ones, in turn. */
const inTurn = <T>(all: readonly T[], tick: number): T[] => {
  const from = all.length > AT_ONCE ? (tick * AT_ONCE) % all.length : 0;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, AT_ONCE);
};

/** A gate at which requests wait, as read before its accounts. */
export type QueuedGate = GateState & { queued: string };
export const isQueued = (state: GateState | undefined): state is QueuedGate => state?.queued !== undefined;

/** Options of letting requests in. */
export interface AdmitOptions {
  clock: Clock;
  /** The number of the tick: each looks at the next permits and accounts of a large gate. */
  tick: number;
  /** Most requests to let in or wake; no limit by default. */
  most?: number;
  /** Wakes the execution that waits under a task token; false when none does. */
  wake?: (taskToken: string) => Promise<boolean>;
}

/**
 * Lets the waiting requests of a gate in while there is room for the next one. Each is chosen by `chooseAccount`, and is the oldest
 * of its account that can be read. A request that needs more calls than there is room for is waited for. A request that cannot be read is
 * passed over: its execution ends and refunds it when its time in the queue ends.
 *
 * 1. Wake the requests that have a permit: the run that let them in died, or they wait under a newer token. Remove the accounts with
 *    permits that have no waiting request any more, also while the gate is full: otherwise the loop would keep running with no request
 *    waiting. At most 12 accounts in a tick, in turn.
 * 2. At a gate without room for the next request, take spare permits back: at most 12 are audited in a tick, in turn.
 * 3. Take a permit for the next request and note it on the waiter, in one transaction. Then wake the request and take it out of
 *    the queue.
 */
export const admitWaiting = async (gate: Gate, seen: QueuedGate, options: AdmitOptions): Promise<void> => {
  const { clock, tick, most = Number.POSITIVE_INFINITY } = options;
  let accounts = await listWaitingAccounts(gate.name);
  if (accounts.length === 0) {
    await unmarkQueued(gate.name, seen.queued);
    return;
  }
  let state: GateState = seen;
  /** The next request of an account, if that has to take a permit. An account without a request to let in is left out from now on. */
  const nextOf = async (account: WaitingAccount): Promise<GateWaiter | undefined> => {
    const head = await findOldestWaiter(gate.name, account.accountId);
    if (!head) await removeWaitingAccount(gate.name, account);
    // One whose permit cannot be read could not take another. The other accounts must not wait for it.
    if (!head || head === 'unreadable' || state.unreadable.has(head.requestId)) {
      accounts = accounts.filter((one) => one !== account);
      return undefined;
    }
    const hasPermit = head.admittedMs !== undefined || state.permits.has(head.requestId);
    if (!hasPermit) return head;
    await wakeWaiter(gate.name, head, options);
    return undefined;
  };
  const running = runningOf(seen);
  const withPermits = accounts.filter(({ accountId }) => running.has(accountId));
  for (const account of inTurn(withPermits, tick)) await nextOf(account);
  // A gate without a limit of running calls stores permits only until they are used.
  let isAudited = gate.permits === undefined || seen.used >= gate.permits;
  if (isAudited) state = await takeSpareBack(gate.name, seen, options);
  let admittedSoFar = 0;
  while (admittedSoFar < most && hasRoom(gate, state, 1, clock.now().getTime())) {
    const account = chooseAccount(accounts, runningOf(state));
    if (!account) return;
    const head = await nextOf(account);
    if (!head) continue;
    // The gate may have become smaller since the request began to wait.
    const waiter = { ...head, weight: weightOf(head.weight, gate) };
    if (!hasRoom(gate, state, waiter.weight, clock.now().getTime())) {
      if (isAudited) return;
      isAudited = true;
      state = await takeSpareBack(gate.name, state, options);
      continue;
    }
    const after = await takePermitFor(gate, waiter, state, clock.now());
    // The gate or the waiter has changed: the next tick reads both.
    if (!after) return;
    state = after;
    admittedSoFar++;
    await wakeWaiter(gate.name, head, options);
    const servedAt = toInstant(clock.now());
    await recordServed(gate.name, account.accountId, clock.now());
    accounts = accounts.map((one) => (one === account ? { ...one, servedAt } : one));
  }
};

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
  // Its execution may be lost.
  await checkQueuedAt(waiter.requestId, toInstant(clock.now()));
};

/** Takes back the permits whose turn it is that are spare, or whose requests have ended or are gone. Returns the gate afterwards. */
const takeSpareBack = async (
  gateName: string,
  seen: GateState,
  { tick, clock }: AdmitOptions,
): Promise<GateState> => {
  const audited = inTurn([...seen.permits], tick);
  const { requests, unreadable } = await findRequests(audited.map(([requestId]) => requestId));
  const requestOf = new Map(requests.map((request) => [request.requestId, request]));
  let state = seen;
  await Promise.all(
    audited.map(async ([requestId, permit]) => {
      // Its provider may be at work.
      if (unreadable.includes(requestId)) return;
      const request = requestOf.get(requestId);
      if (request && !isTerminal(request)) {
        // Read after the request: the calls of the permit that it names are among them.
        const latest = latestAttempts(await listAttempts(requestId));
        // A process that died within its call keeps the permit no longer than it takes to know that.
        const attempts = await Promise.all(latest.map((attempt) => recordIfDead(attempt, clock)));
        // An operator may have led its model elsewhere between its permit and its calls.
        const here = attempts.filter((attempt) => gateNameOf(routeNameOf(attempt)) === gateName);
        const spare = isSpare(permit, request, { latest: attempts, here }, clock.now().getTime());
        if (spare === 'unless-claimed') {
          const read = await findRequest(requestId);
          if (read?.permitMs === permit.takenMs) return;
        } else if (!spare) return;
      }
      logger.warn('a permit was taken back', { requestId, gate: gateName });
      state = (await leaveGate(gateName, { ...permit, requestId }, clock, permit.takenMs)) ?? state;
    }),
  );
  return state;
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

/** Requests of a route that is left out are woken so many at once, to choose another one. */
const MOVED_AT_ONCE = 10;

/** In how many ticks one request is woken to try another route, which may be full: each wake costs transitions. */
const TICKS_PER_TRY = 10;

/**
 * Lets the waiting requests of a route that is left out choose again: up to 10 of those that another route may take. When there is no
 * other route for anyone, lets one of them try this one, and now and then one try another, once it may be tried. Reads no queue while
 * nothing can be done. `circuits` are those of the route and the others, by name.
 */
export const rerouteWaiting = async (
  { route, gate, models, others }: Queue,
  seen: QueuedGate,
  circuits: ReadonlyMap<string, Circuit>,
  options: AdmitOptions,
): Promise<void> => {
  const now = options.clock.now();
  const circuitOf = (name: string): Circuit => circuits.get(name) ?? CLOSED;
  const areSeveral = models.every((model) => routesOf(model).length > 1);
  const wakeFor = async (suits: (other: Circuit) => boolean, most: number): Promise<number> => {
    const isSuited = (name: string): boolean => name !== route && suits(circuitOf(name));
    if (!others.some(isSuited)) return 0;
    // A waiter names the routes of its model when it began to wait, if there were several. It may have others by now.
    const choosesAgain = ({ routes }: GateWaiter): boolean => routes?.some(isSuited) ?? areSeveral;
    return drainGate(gate.name, seen, { ...options, most }, choosesAgain);
  };
  if ((await wakeFor((other) => !isLeftOut(other), MOVED_AT_ONCE)) > 0) return;
  const isToTry = mayProbe(circuitOf(route), now);
  if (isToTry && !isLimited(gate)) {
    await drainGate(gate.name, seen, { ...options, most: 1 });
    return;
  }
  if (options.tick % TICKS_PER_TRY === 0) await wakeFor((other) => mayProbe(other, now), 1);
  if (isToTry) await admitWaiting(gate, seen, { ...options, most: 1 });
};
