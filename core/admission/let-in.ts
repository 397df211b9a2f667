import type { Clock } from '../clock.ts';
import { logger } from '../observability.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest, lookAtQueued } from '../requests/requests.ts';
import { toInstant } from '../time.ts';
import { chooseAccount, type Gate, type GateState, hasRoom, runningOf, weightOf } from './gate-rules.ts';
import { givePermitBack, readGate, takePermitFor, unmarkQueued } from './gates.ts';
import {
  findWaiter,
  type GateWaiter,
  listWaiters,
  noteServed,
  removeWaiter,
  removeWaitingAccount,
} from './waiters.ts';

/** Wakes the execution that waits under a task token. False when none does. */
export type Wake = (taskToken: string) => Promise<boolean>;

/** What letting requests in works with. */
export interface LettingIn {
  wake: Wake;
  clock: Clock;
  /** The account that has just given a permit back: if it waits too, it counts as served now. */
  servedNow?: string;
}

/** A call lets in at most so many: the caller has work of its own. */
const MAX_ROUNDS = 10;

/**
 * Lets waiting requests in while a gate has room for the next one. Each is chosen by `chooseAccount`, and is the oldest
 * of its account; one that is wider than the room lets nobody pass. Calls may run at the same time.
 *
 * 1. Read the gate and the accounts that wait. When none is left, nobody waits.
 * 2. Choose an account, and its oldest request that has no permit. An account without one is removed.
 * 3. Take a permit for it, then wake it. One that does not wait any more leaves the queue. If it has ended, its permit is
 *    given back. If not, it keeps it: its time in the queue may have run out meanwhile, and it calls its provider.
 *
 * Returns whether there may be more to let in.
 */
export const letIn = async (gate: Gate, letting: LettingIn): Promise<boolean> => {
  /** Accounts whose waiting requests all have a permit: somebody else is waking them. */
  const passed = new Set<string>();
  if (letting.servedNow !== undefined) {
    await noteServed(gate.name, letting.servedNow, undefined, letting.clock.now());
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { state, accounts } = await readGate(gate.name);
    if (state.queued === undefined) return false;
    if (accounts.length === 0) {
      if (await unmarkQueued(gate.name, state.queued)) return false;
      continue;
    }
    if (!hasRoom(gate, state, 1, letting.clock.now().getTime())) return false;
    const waiting = accounts.filter(({ accountId }) => !passed.has(accountId));
    const account = chooseAccount(waiting, runningOf(state));
    if (!account) return false;
    const [head, next] = await withoutPermit(gate, account.accountId, state);
    if (head === 'none') await removeWaitingAccount(gate.name, account);
    else if (head === undefined) passed.add(account.accountId);
    else {
      const after = await letInOne(gate, head, next, state, letting);
      if (after === 'too wide' || after === 'full') return false;
    }
  }
  return true;
};

/**
 * The two oldest waiting requests of an account that hold no permit. `none` when none waits. One that holds a permit
 * is being woken, or whoever was about to has died: then the sweep does it.
 */
const withoutPermit = async (
  gate: Gate,
  accountId: string,
  { permits }: GateState,
): Promise<[head: GateWaiter | 'none' | undefined, next?: GateWaiter | undefined]> => {
  const held = [...permits.values()].filter((permit) => permit.accountId === accountId).length;
  const found = await listWaiters(gate.name, accountId, held + 2);
  if (found.length === 0) return ['none'];
  const [head, next] = found.filter(({ requestId }) => !permits.has(requestId));
  return [head, next];
};

const letInOne = async (
  gate: Gate,
  head: GateWaiter,
  next: GateWaiter | undefined,
  seen: GateState,
  { wake, clock }: LettingIn,
): Promise<'let in' | 'full' | 'too wide' | 'not taken' | 'gone'> => {
  const now = clock.now();
  // The gate may have become smaller since it began to wait.
  const entrant = { ...head, weight: weightOf(head.weight, gate) };
  if (!hasRoom(gate, seen, entrant.weight, now.getTime())) return 'too wide';
  const state = await takePermitFor(gate, entrant, seen, now);
  if (!state) return 'not taken';
  const woken = await wakeUnderLatestToken(gate, head, wake);
  if (woken) {
    await leaveQueue(gate.name, woken, next, now);
    return hasRoom(gate, state, 1, now.getTime()) ? 'let in' : 'full';
  }
  logger.warn('a request whose turn came did not wait', { requestId: head.requestId, gate: gate.name });
  await dropWaiter(gate.name, head, now);
  const request = await findRequest(head.requestId);
  if (!request || isTerminal(request)) await givePermitBack(gate.name, head.requestId, now.getTime());
  return 'gone';
};

/** Removes a request from the queue that does not wait under its token. Its execution may be lost: the reconciler looks. */
export const dropWaiter = async (gateName: string, waiter: GateWaiter, now: Date): Promise<void> => {
  await lookAtQueued(waiter.requestId, toInstant(now));
  await removeWaiter(gateName, waiter);
};

/** The waiter as it was woken; undefined when no execution waits for it. */
const wakeUnderLatestToken = async (
  gate: Gate,
  waiter: GateWaiter,
  wake: Wake,
): Promise<GateWaiter | undefined> => {
  if (await wake(waiter.taskToken)) return waiter;
  const latest = await findWaiter(gate.name, waiter);
  if (!latest || latest.tokenOrder === waiter.tokenOrder) return undefined;
  return (await wake(latest.taskToken)) ? latest : undefined;
};

/** Wakes a waiting request that has a permit already: who was to wake it died, or knew its former wait only. */
export const wakeHolder = async (
  gateName: string,
  waiter: GateWaiter,
  { wake, clock }: LettingIn,
): Promise<void> => {
  // The token is gone when the request was woken and its place in the queue was left.
  await wake(waiter.taskToken);
  await leaveQueue(gateName, waiter, undefined, clock.now());
};

const leaveQueue = async (
  gateName: string,
  woken: GateWaiter,
  next: GateWaiter | undefined,
  now: Date,
): Promise<void> => {
  // Not if the request waits again by now, under another token.
  await removeWaiter(gateName, woken);
  await noteServed(gateName, woken.accountId, next?.createdAt, now);
};
