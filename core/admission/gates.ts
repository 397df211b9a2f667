import * as z from 'zod/mini';
import { readable } from '../observability.ts';
import { listModelRoutes } from '../provider-calls/model-routes.ts';
import { routeNameOf } from '../provider-names.ts';
import {
  GATE_LISTING_PARTITION,
  gateKey,
  gateListing,
  PERMIT_PREFIX,
  permitAttribute,
} from '../table/keys.ts';
import {
  batchGet,
  listingQuery,
  queryItems,
  type StoredItem,
  type UpdateParts,
  updateOf,
  updateWrite,
} from '../table/table.ts';
import { refusedBy, type TransactItem, transact, writeOnCondition } from '../table/transactions.ts';
import {
  type Entrant,
  type Gate,
  type GateState,
  gateOf,
  hasRoom,
  isLimited,
  newcomerUpdate,
  Permit,
  permitOf,
  stepMs,
  waiterUpdate,
} from './gate-rules.ts';
import { admitWrite, type GateWaiter } from './waiters.ts';

const StoredGate = z.object({
  used: z._default(z.number(), 0),
  queued: z.optional(z.string()),
  nextStartMs: z.optional(z.number()),
});
const toGateState = (item: StoredItem = {}): GateState => {
  const stored = Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(PERMIT_PREFIX) ? [[name.slice(PERMIT_PREFIX.length), value] as const] : [],
  );
  const read = readable(
    stored,
    ([requestId, value]) => [requestId, Permit.parse(value)] as const,
    ([requestId]) => `${item.PK} ${permitAttribute(requestId)}`,
  );
  const permits = new Map(read);
  const unreadable = new Set(stored.map(([requestId]) => requestId).filter((id) => !permits.has(id)));
  const { used, queued, nextStartMs } = StoredGate.parse(item);
  return { used, queued, nextStartMs, permits, unreadable };
};

/** A request's permission to make calls of a limited route: `isNew` when it was taken now, else held from an earlier run or since it was let in. */
export interface Pass {
  gate: Gate;
  permit: Permit;
  isNew: boolean;
}

/** A second wrong guess means that others started between two calls of this one. */
const MAX_GUESSES = 4;

/**
 * Access pattern 61: takes a permit of a gate for a newcomer, in one conditional update. Undefined when there is no room, or
 * while a request waits. Returns the permit that the request holds already. Without a limit of running calls, it takes a place in time only, and no permit is stored.
 */
export const takePermit = async (gate: Gate, entrant: Entrant, now: Date): Promise<Pass | undefined> => {
  const nowMs = now.getTime();
  let isIdle = true;
  for (let guess = 0; guess < MAX_GUESSES; guess++) {
    const { state, done } = await update(gate.name, newcomerUpdate(gate, entrant, nowMs, isIdle));
    const { nextStartMs = 0 } = state;
    if (done) {
      const startMs = isIdle ? nowMs : nextStartMs - stepMs(gate, entrant);
      return { gate, permit: permitOf(entrant, nowMs, startMs), isNew: true };
    }
    const held = state.permits.get(entrant.requestId);
    if (held) return { gate, permit: held, isNew: false };
    if (state.queued !== undefined || !hasRoom(gate, state, entrant.weight, nowMs)) break;
    isIdle = nextStartMs <= nowMs;
  }
  return undefined;
};

/**
 * Access pattern 61: takes a permit for the next waiting request and notes it on the waiter. Refused without room, and
 * when the request no longer waits under its token. Returns the gate afterwards; undefined, with nothing written, when refused.
 */
export const takePermitFor = async (
  gate: Gate,
  waiter: GateWaiter,
  seen: GateState,
  now: Date,
): Promise<GateState | undefined> => {
  const nowMs = now.getTime();
  const startMs = Math.max(nowMs, seen.nextStartMs ?? 0);
  const permit = permitOf(waiter, nowMs, startMs);
  const take = updateWrite(gateKey(gate.name), waiterUpdate(gate, waiter, permit, seen.nextStartMs));
  const writes: TransactItem[] = [take, admitWrite(gate.name, waiter, nowMs)];
  let isRefused = false;
  await transact((refusals) => {
    isRefused = writes.some((_, index) => refusedBy(refusals, index));
    return isRefused ? [] : writes;
  });
  if (isRefused) return undefined;
  return {
    ...seen,
    used: seen.used + permit.weight,
    nextStartMs: gate.intervalMs === undefined ? seen.nextStartMs : startMs + stepMs(gate, waiter),
    permits: new Map(seen.permits).set(waiter.requestId, permit),
  };
};

/**
 * Access pattern 61: gives a request's permit back; with `takenMs`, only the permit taken then. Returns the
 * gate afterwards; undefined when the request has no such permit. Repeating it is harmless.
 */
export const givePermitBack = async (
  gateName: string,
  requestId: string,
  takenMs?: number,
): Promise<GateState | undefined> => {
  const { state, done } = await update(gateName, {
    UpdateExpression: 'SET used = used - #permit.weight REMOVE #permit',
    ConditionExpression: `attribute_exists(#permit)${takenMs === undefined ? '' : ' AND #permit.takenMs = :taken'}`,
    ExpressionAttributeNames: { '#permit': permitAttribute(requestId) },
    ...(takenMs !== undefined && { ExpressionAttributeValues: { ':taken': takenMs } }),
  });
  return done ? state : undefined;
};

/** Access pattern 62: lets no call start before `untilMs`: the provider asked for a pause. */
export const postponeStarts = async (gateName: string, untilMs: number): Promise<void> => {
  await update(gateName, {
    UpdateExpression: 'SET nextStartMs = :until',
    ConditionExpression: 'attribute_not_exists(nextStartMs) OR nextStartMs < :until',
    ExpressionAttributeValues: { ':until': untilMs },
  });
};

/**
 * Access pattern 62: notes that a request waits at a gate: from now on the gate refuses newcomers. Comes after the waiter and its account
 * are written, so that `unmarkQueued` cannot miss them.
 */
export const markQueued = async (gateName: string, stamp: string): Promise<void> => {
  const { GSI1PK, GSI1SK } = gateListing(gateName);
  await update(gateName, {
    UpdateExpression: 'SET queued = :stamp, GSI1PK = :list, GSI1SK = :gate',
    ExpressionAttributeValues: { ':stamp': stamp, ':list': GSI1PK, ':gate': GSI1SK },
  });
};

/**
 * Access pattern 62: notes that no request waits at a gate. False when one began to wait since the gate was read, which must be
 * before its accounts were.
 */
export const unmarkQueued = async (gateName: string, seenStamp: string): Promise<boolean> => {
  const { done } = await update(gateName, {
    UpdateExpression: 'REMOVE queued',
    ConditionExpression: 'queued = :seen',
    ExpressionAttributeValues: { ':seen': seenStamp },
  });
  return done;
};

/** Updates a gate's item. Returns it as it is afterwards and, when the condition refused, as it is. */
const update = async (
  gateName: string,
  expressions: UpdateParts,
): Promise<{ state: GateState; done: boolean }> => {
  const { done, item } = await writeOnCondition(
    updateOf(gateKey(gateName), {
      ...expressions,
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return { state: toGateState(item), done };
};

/** Access pattern 60: gates by name, strongly consistent, in the order of the names; undefined for one that cannot be read. */
export const readGates = async (gateNames: readonly string[]): Promise<(GateState | undefined)[]> =>
  (await batchGet(gateNames.map(gateKey))).map(
    (item) => readable([item], toGateState, () => String(item?.PK))[0],
  );

/** Access pattern 60: the names of all gates at which a request ever waited. Eventually consistent. */
export const listGates = async (): Promise<string[]> => {
  const listed = await queryItems(listingQuery(GATE_LISTING_PARTITION));
  return listed.map(({ GSI1SK }) => String(GSI1SK));
};

/** A configured route at which requests may wait, the models that have it, and the names of their other routes. */
export interface Queue {
  gate: Gate;
  models: readonly string[];
  others: readonly string[];
}

/**
 * The queues of all routes that have a limit, or are one of several. Requests wait at a route without a limit while it is left out, and all
 * others too.
 */
export const listQueues = (): Queue[] => {
  const queues = new Map<string, Queue>();
  for (const [model, routes] of Object.entries(listModelRoutes())) {
    const names = routes.map(routeNameOf);
    for (const route of routes) {
      const name = routeNameOf(route);
      const { models, others } = queues.get(name) ?? { models: [], others: [] };
      queues.set(name, {
        ...{ gate: gateOf(name, route), models: [...models, model] },
        others: [...others, ...names.filter((other) => other !== name)],
      });
    }
  }
  return [...queues.values()].filter(({ gate, others }) => isLimited(gate) || others.length > 0);
};

/** A gate by its name; undefined when no configured route has requests wait there. */
export const findGate = (name: string): Gate | undefined =>
  listQueues().find(({ gate }) => gate.name === name)?.gate;
