import { leaveGate } from '../admission/admission.ts';
import {
  chooseAccount,
  type Gate,
  type GateState,
  gateNameOf,
  hasRoom,
  isLimited,
  isSpare,
  type PermitHolder,
  runningOf,
  type WaitingAccount,
  weightOf,
} from '../admission/gate-rules.ts';
import { takePermitFor, unmarkQueued } from '../admission/gates.ts';
import {
  findOldestWaiter,
  type GateWaiter,
  listAllWaiters,
  listWaitingAccounts,
  noteServed,
  removeWaiter,
  removeWaitingAccount,
} from '../admission/waiters.ts';
import { type Circuit, isLeftOut, mayProbe } from '../circuits/circuit-rules.ts';
import type { Clock } from '../clock.ts';
import { letIntoDispatch } from '../executions/task-tokens.ts';
import { logger } from '../observability.ts';
import { hasOpenTask, isBusyAttempt, latestAttempts } from '../provider-calls/attempt-rules.ts';
import { recordIfDead } from '../provider-calls/dead-calls.ts';
import { listAttempts } from '../provider-calls/provider-attempts.ts';
import { routeNameOf } from '../provider-calls/route-names.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequests, lookAtQueued } from '../requests/requests.ts';
import { toInstant } from '../time.ts';

/** Most permits of a gate that are audited in one tick. */
const AUDITED_AT_ONCE = 12;

/** A gate at which requests wait, as read before its accounts. */
export type QueuedGate = GateState & { queued: string };

/** Options of letting requests in. */
export interface LetInOptions {
  clock: Clock;
  /** The number of the tick: each audits the next permits of a large gate. */
  tick: number;
  /** Most requests to let in; no limit by default. */
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
 *    permits that have no waiting request any more.
 * 2. At a gate without room for the next request, take spare permits back: at most 12 are audited in a tick, in turn.
 * 3. Take a permit for the next request and note it on the waiter, in one transaction. Then wake the request and take it out of
 *    the queue.
 */
export const letIn = async (gate: Gate, seen: QueuedGate, options: LetInOptions): Promise<void> => {
  const { clock, most = Number.POSITIVE_INFINITY } = options;
  let accounts = await listWaitingAccounts(gate.name);
  if (accounts.length === 0) {
    await unmarkQueued(gate.name, seen.queued);
    return;
  }
  const remove = async (account: WaitingAccount): Promise<void> => {
    await removeWaitingAccount(gate.name, account);
    accounts = accounts.filter((one) => one !== account);
  };
  const running = runningOf(seen);
  for (const account of accounts.filter(({ accountId }) => running.has(accountId))) {
    const head = await findOldestWaiter(gate.name, account.accountId);
    // Also while the gate is full: otherwise the loop would keep running with no request waiting.
    if (!head) await remove(account);
    else if (head !== 'unreadable' && hasPermit(head, seen)) await wakeWaiter(gate.name, head, options);
  }
  const now = (): Date => clock.now();
  let isAudited = isFull(gate, seen);
  let state = isAudited ? await takeSpareBack(gate.name, seen, options) : seen;
  let letInSoFar = 0;
  while (letInSoFar < most && hasRoom(gate, state, 1, now().getTime())) {
    const account = chooseAccount(accounts, runningOf(state));
    if (!account) return;
    const head = await findOldestWaiter(gate.name, account.accountId);
    if (!head) {
      await remove(account);
    } else if (head === 'unreadable' || state.unreadable.has(head.requestId)) {
      // It could not take a permit beside its own. The other accounts must not wait for it.
      accounts = accounts.filter((one) => one !== account);
    } else if (hasPermit(head, state)) {
      await wakeWaiter(gate.name, head, options);
    } else {
      // The gate may have become smaller since the request began to wait.
      const waiter = { ...head, weight: weightOf(head.weight, gate) };
      if (!hasRoom(gate, state, waiter.weight, now().getTime())) {
        if (isAudited) return;
        isAudited = true;
        state = await takeSpareBack(gate.name, state, options);
        continue;
      }
      const after = await takePermitFor(gate, waiter, state, now());
      // The gate or the waiter has changed: the next tick reads both.
      if (!after) return;
      state = after;
      letInSoFar++;
      await wakeWaiter(gate.name, head, options);
      const servedAt = toInstant(now());
      await noteServed(gate.name, account.accountId, now());
      accounts = accounts.map((one) => (one === account ? { ...one, servedAt } : one));
    }
  }
};

/** Whether a gate has no room for a single call, or stores permits only until they are used. */
const isFull = ({ permits }: Gate, { used }: GateState): boolean => permits === undefined || used >= permits;

const hasPermit = ({ requestId, letInMs }: GateWaiter, { permits }: GateState): boolean =>
  letInMs !== undefined || permits.has(requestId);

/** Wakes a waiting request and takes it out of the queue, unless it waits under a newer token by now. */
const wakeWaiter = async (
  gateName: string,
  waiter: GateWaiter,
  { clock, wake = letIntoDispatch }: LetInOptions,
): Promise<void> => {
  const woken = await wake(waiter.taskToken);
  const isRemoved = await removeWaiter(gateName, waiter);
  if (woken || !isRemoved) return;
  logger.warn('a request whose turn came did not wait', { requestId: waiter.requestId, gate: gateName });
  // Its execution may be lost.
  await lookAtQueued(waiter.requestId, toInstant(clock.now()));
};

/** Takes back the spare ones of the permits whose turn it is. Returns the gate afterwards. */
const takeSpareBack = async (
  gateName: string,
  seen: GateState,
  { tick, clock }: LetInOptions,
): Promise<GateState> => {
  const permits = [...seen.permits];
  const from = permits.length > AUDITED_AT_ONCE ? (tick * AUDITED_AT_ONCE) % permits.length : 0;
  const audited = [...permits.slice(from), ...permits.slice(0, from)].slice(0, AUDITED_AT_ONCE);
  const { requests, unreadable } = await findRequests(audited.map(([requestId]) => requestId));
  const requestOf = new Map(requests.map((request) => [request.requestId, request]));
  let state = seen;
  await Promise.all(
    audited.map(async ([requestId, permit]) => {
      // Its provider may be at work.
      if (unreadable.includes(requestId)) return;
      const request = requestOf.get(requestId);
      // The calls are read after the request: those of the permit that it names are among them.
      const holder = request && (await holderOf(request, gateName, clock));
      if (!isSpare(permit, holder, clock.now().getTime())) return;
      logger.warn('a permit was taken back', { requestId, gate: gateName });
      state = (await leaveGate(gateName, { ...permit, requestId }, clock, permit.takenMs)) ?? state;
    }),
  );
  return state;
};

const holderOf = async (request: StoredRequest, gateName: string, clock: Clock): Promise<PermitHolder> => {
  const isEnded = isTerminal(request);
  const latest = isEnded ? [] : latestAttempts(await listAttempts(request.requestId));
  // A process that died within its call keeps the permit no longer than it takes to know that.
  const attempts = await Promise.all(latest.map((attempt) => recordIfDead(attempt, clock)));
  // An operator may have led its model elsewhere between its permit and its calls.
  const here = attempts.filter((attempt) => gateNameOf(routeNameOf(attempt)) === gateName);
  const isToMake = attempts.length === 0 || attempts.some(isBusyAttempt);
  return {
    isEnded,
    calls: hasOpenTask(here) ? 'open' : isToMake ? 'to make' : 'finished',
    usedPermit: request.permitMs,
  };
};

/**
 * Wakes requests that wait at a gate, the oldest of an account first: they are dispatched where a route leads now. `chosen` are those to
 * wake. Once none is left, the gate is free for newcomers.
 */
export const drainGate = async (
  gateName: string,
  { queued }: QueuedGate,
  options: LetInOptions,
  chosen: (waiters: readonly GateWaiter[]) => readonly GateWaiter[] = (waiters) => waiters,
): Promise<void> => {
  const accounts = await listWaitingAccounts(gateName);
  const waiters = await listAllWaiters(gateName, { isConsistent: true });
  const woken = chosen(waiters);
  for (const waiter of woken) await wakeWaiter(gateName, waiter, options);
  if (woken.length < waiters.length) return;
  for (const account of accounts) await removeWaitingAccount(gateName, account);
  await unmarkQueued(gateName, queued);
};

/** Requests of a route that is left out are woken so many at once, to choose another one. */
const MOVED_AT_ONCE = 10;

/** In how many ticks one request is woken to try another route, which may be full: each wake costs transitions. */
const TICKS_PER_TRY = 10;

/**
 * Lets the waiting requests of a route that is left out choose again: up to 10 of those that another route may take. When there is no
 * other route for anyone, lets one of them try this one, and now and then one try another, once it may be tried.
 */
export const letElsewhere = async (
  gate: Gate,
  seen: QueuedGate,
  circuits: ReadonlyMap<string, Circuit>,
  options: LetInOptions,
): Promise<void> => {
  const now = options.clock.now();
  const own = [...circuits].find(([route]) => gateNameOf(route) === gate.name)?.[1];
  const among = (are: (circuit: Circuit) => boolean) => {
    const names = new Set([...circuits].flatMap(([route, circuit]) => (are(circuit) ? [route] : [])));
    return ({ routes = [] }: GateWaiter): boolean => routes.some((route) => names.has(route));
  };
  const isToTry = own !== undefined && mayProbe(own, now);
  const isToTryElsewhere = options.tick % TICKS_PER_TRY === 0;
  const mayTry = (waiters: readonly GateWaiter[]): readonly GateWaiter[] => {
    if (isToTry && !isLimited(gate)) return waiters;
    const canElsewhere = among((circuit) => circuit !== own && mayProbe(circuit, now));
    return isToTryElsewhere ? waiters.filter(canElsewhere) : [];
  };
  let isAnyMovable = false;
  await drainGate(gate.name, seen, options, (waiters) => {
    const movable = waiters.filter(among((circuit) => !isLeftOut(circuit)));
    isAnyMovable = movable.length > 0;
    if (isAnyMovable) return movable.slice(0, MOVED_AT_ONCE);
    const oldestFirst = mayTry(waiters).toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
    return oldestFirst.slice(0, 1);
  });
  if (!isAnyMovable && isToTry && isLimited(gate)) await letIn(gate, seen, { ...options, most: 1 });
};
