import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import {
  GATE_LISTING_PARTITION,
  GATE_SORT,
  gateKey,
  gateListing,
  gatePartition,
  WAITING_ACCOUNT_PREFIX,
} from '../table/keys.ts';
import { listingQuery } from '../table/listings.ts';
import { queryAll } from '../table/queries.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import { writeItem } from '../table/transactions.ts';
import {
  type Gate,
  type GateState,
  latestStartMs,
  leaseEndMs,
  type Permit,
  startOf,
  type WaitingAccount,
} from './gate-rules.ts';
import { toWaitingAccount } from './waiters.ts';

const StoredPermit = z.object({
  accountId: z.string(),
  weight: z.number(),
  takenMs: z.number(),
  untilMs: z.number(),
  startMs: z.optional(z.number()),
});
const StoredGate = z.object({
  used: z._default(z.number(), 0),
  queued: z.optional(z.string()),
  nextStartMs: z.optional(z.number()),
});
/** Permits are attributes of the gate's item. A count beside them would drift when a function dies in between. */
const PERMIT_PREFIX = 'permit#';
const permitAttribute = (requestId: string): string => PERMIT_PREFIX + requestId;

const toGateState = (item: StoredItem = {}): GateState => {
  const { used, queued, nextStartMs } = StoredGate.parse(item);
  const permits = Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(PERMIT_PREFIX)
      ? [[name.slice(PERMIT_PREFIX.length), StoredPermit.parse(value)] as const]
      : [],
  );
  return { used, queued, nextStartMs, permits: new Map(permits) };
};

/** The request that asks for a permit, and how many calls it is for: at once, and in all. */
export interface Entrant {
  requestId: string;
  accountId: string;
  weight: number;
  starts: number;
}

/** The outcome of asking for a permit. `state` is the gate's afterwards, `startMs` when the request may begin. */
export type Taken =
  | { kind: 'taken'; startMs: number; weight: number; takenMs: number; state: GateState }
  /** The request had one already, from an earlier call or because its turn came. */
  | { kind: 'held'; startMs: number; weight: number; takenMs: number; state: GateState }
  | { kind: 'refused' };

/** A second wrong guess means that others started between two calls of this one. */
const MAX_GUESSES = 4;

/**
 * Access pattern 83: takes a permit of a gate, in one conditional update. Refused while anybody waits there, so that
 * a newcomer passes nobody. Without a limit of running calls, it takes a place in time only, and no permit is stored. Repeating it is
 * harmless.
 */
export const takePermit = async (gate: Gate, entrant: Entrant, now: Date): Promise<Taken> => {
  const nowMs = now.getTime();
  // DynamoDB has no `max`, so the update has one form for an idle gate and one for a rate in use.
  let isIdle = true;
  for (let guess = 0; guess < MAX_GUESSES; guess++) {
    const { state, done } = await tryToTake(gate, entrant, nowMs, isIdle);
    if (done) {
      const startMs = isIdle ? nowMs : (state.nextStartMs ?? nowMs) - stepMs(gate, entrant);
      return { kind: 'taken', startMs, weight: entrant.weight, takenMs: nowMs, state };
    }
    const held = state.permits.get(entrant.requestId);
    if (held) {
      const { startMs = nowMs, weight, takenMs } = held;
      return { kind: 'held', startMs, weight, takenMs, state };
    }
    const next = state.nextStartMs ?? 0;
    const isFull = gate.permits !== undefined && state.used + entrant.weight > gate.permits;
    if (isFull || state.queued !== undefined || next > latestStartMs(gate, nowMs)) break;
    isIdle = next <= nowMs;
  }
  return { kind: 'refused' };
};

const stepMs = ({ intervalMs = 0 }: Gate, { starts }: Entrant): number => Math.ceil(starts * intervalMs);

const tryToTake = (
  gate: Gate,
  entrant: Entrant,
  nowMs: number,
  isIdle: boolean,
): Promise<{ state: GateState; done: boolean }> => {
  const rate =
    gate.intervalMs === undefined
      ? undefined
      : isIdle
        ? { set: 'nextStartMs = :next', values: { ':next': nowMs + stepMs(gate, entrant) } }
        : { set: 'nextStartMs = nextStartMs + :step', values: { ':step': stepMs(gate, entrant) } };
  const isInTime = isIdle
    ? '(attribute_not_exists(nextStartMs) OR nextStartMs <= :now)'
    : 'nextStartMs > :now AND nextStartMs <= :latest';
  const values = isIdle ? { ':now': nowMs } : { ':now': nowMs, ':latest': latestStartMs(gate, nowMs) };
  return updateToTake(gate, entrant, {
    sets: rate ? [rate.set] : [],
    conditions: ['attribute_not_exists(queued)', isInTime],
    values: { ...rate?.values, ...values },
    permit: gate.permits === undefined ? undefined : permitOf(entrant, nowMs),
  });
};

const permitOf = ({ accountId, weight }: Entrant, nowMs: number, startMs?: number): Permit => ({
  ...{ accountId, weight, takenMs: nowMs, untilMs: leaseEndMs(nowMs) },
  ...(startMs !== undefined && startMs > nowMs && { startMs }),
});

/**
 * Access pattern 84: takes a permit for a waiting request whose turn has come, on the condition that the gate's rate is
 * as it was seen. Undefined when there is no room, or the request has one already.
 */
export const takePermitFor = async (
  gate: Gate,
  entrant: Entrant,
  seen: GateState,
  now: Date,
): Promise<GateState | undefined> => {
  const nowMs = now.getTime();
  const { startMs, nextStartMs } = startOf(gate, seen, entrant.starts, nowMs);
  const isRated = gate.intervalMs !== undefined;
  const rate = !isRated
    ? {
        condition: '(attribute_not_exists(nextStartMs) OR nextStartMs <= :now)',
        values: { ':now': nowMs },
      }
    : seen.nextStartMs === undefined
      ? { condition: 'attribute_not_exists(nextStartMs)', values: {} }
      : { condition: 'nextStartMs = :seen', values: { ':seen': seen.nextStartMs } };
  const { state, done } = await updateToTake(gate, entrant, {
    sets: isRated ? ['nextStartMs = :next'] : [],
    conditions: [rate.condition],
    values: { ...rate.values, ...(isRated && { ':next': nextStartMs }) },
    permit: permitOf(entrant, nowMs, startMs),
  });
  return done ? state : undefined;
};

/** What an update that takes a permit adds to what all do. */
interface TakeUpdate {
  sets: string[];
  conditions: string[];
  values: Record<string, unknown>;
  /** Undefined: none is stored. */
  permit: Permit | undefined;
}

const updateToTake = async (
  gate: Gate,
  { requestId, weight }: Entrant,
  { sets, conditions, values, permit }: TakeUpdate,
): Promise<{ state: GateState; done: boolean }> => {
  const { GSI1PK, GSI1SK } = gateListing(gate.name);
  const stored = permit && {
    sets: ['#permit = :permit', 'used = if_not_exists(used, :zero) + :weight'],
    values: { ':permit': permit, ':zero': 0, ':weight': weight },
  };
  const room =
    gate.permits === undefined
      ? undefined
      : {
          condition: '(attribute_not_exists(used) OR used <= :most)',
          values: { ':most': gate.permits - weight },
        };
  return update(gate.name, {
    UpdateExpression: `SET ${[...(stored?.sets ?? []), ...sets, 'GSI1PK = :list', 'GSI1SK = :gate'].join(', ')}`,
    ConditionExpression: [
      'attribute_not_exists(#permit)',
      ...(room ? [room.condition] : []),
      ...conditions,
    ].join(' AND '),
    ExpressionAttributeNames: { '#permit': permitAttribute(requestId) },
    ExpressionAttributeValues: {
      ...stored?.values,
      ...room?.values,
      ...values,
      ':list': GSI1PK,
      ':gate': GSI1SK,
    },
  });
};

/**
 * Access pattern 85: gives a request's permit back; with `takenMs`, only the one that was taken then. Returns the gate
 * afterwards; undefined when the request has no such permit. Repeating it is harmless.
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

/** Access pattern 86: lets no call start before `untilMs`: the provider asked for a pause. */
export const postponeStarts = async (gateName: string, untilMs: number): Promise<void> => {
  await update(gateName, {
    UpdateExpression: 'SET nextStartMs = :until',
    ConditionExpression: 'attribute_not_exists(nextStartMs) OR nextStartMs < :until',
    ExpressionAttributeValues: { ':until': untilMs },
  });
};

/** Access pattern 87: says when to check the holder of a permit next. Does nothing when it was given back since. */
export const renewLease = async (
  gateName: string,
  requestId: string,
  permit: Permit,
  now: Date,
): Promise<void> => {
  await update(gateName, {
    UpdateExpression: 'SET #permit = :renewed',
    ConditionExpression: '#permit.takenMs = :taken',
    ExpressionAttributeNames: { '#permit': permitAttribute(requestId) },
    ExpressionAttributeValues: {
      ':renewed': { ...permit, untilMs: leaseEndMs(now.getTime(), true) },
      ':taken': permit.takenMs,
    },
  });
};

/** Access pattern 88: notes that somebody waits at a gate: from now on it lets nobody in but by turn. Returns the gate afterwards. */
export const markQueued = async (gateName: string, stamp: string): Promise<GateState> => {
  const { GSI1PK, GSI1SK } = gateListing(gateName);
  const { state } = await update(gateName, {
    UpdateExpression: 'SET queued = :stamp, GSI1PK = :list, GSI1SK = :gate',
    ExpressionAttributeValues: { ':stamp': stamp, ':list': GSI1PK, ':gate': GSI1SK },
  });
  return state;
};

/** Access pattern 89: notes that nobody waits at a gate. False when somebody began to since it was seen. */
export const unmarkQueued = async (gateName: string, seenStamp: string): Promise<boolean> => {
  const { done } = await update(gateName, {
    UpdateExpression: 'REMOVE queued',
    ConditionExpression: 'queued = :seen',
    ExpressionAttributeValues: { ':seen': seenStamp },
  });
  return done;
};

type GateUpdate = Pick<
  ConstructorParameters<typeof UpdateCommand>[0],
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** Updates a gate's item. Returns it as it is afterwards and, when the condition refused, as it is. */
const update = async (
  gateName: string,
  expressions: GateUpdate,
): Promise<{ state: GateState; done: boolean }> => {
  try {
    const { Attributes } = await writeItem(
      new UpdateCommand({
        TableName: tableName(),
        Key: gateKey(gateName),
        ...expressions,
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { state: toGateState(Attributes), done: true };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { state: toGateState(error.Item && unmarshall(error.Item)), done: false };
  }
};

/** Access pattern 90: a gate and the accounts that wait at it, strongly consistent. */
export const readGate = async (
  gateName: string,
): Promise<{ state: GateState; accounts: WaitingAccount[] }> => {
  let state = toGateState();
  const accounts: WaitingAccount[] = [];
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :gate AND SK BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':gate': gatePartition(gateName),
      ':first': WAITING_ACCOUNT_PREFIX,
      ':last': GATE_SORT,
    },
    ConsistentRead: true,
  };
  for await (const item of queryAll(query)) {
    if (item.SK === GATE_SORT) state = toGateState(item);
    else accounts.push(toWaitingAccount(item));
  }
  return { state, accounts };
};

/** Access pattern 91: the names of all gates that were ever used. Eventually consistent. */
export const listGates = async (): Promise<string[]> => {
  const names: string[] = [];
  for await (const { GSI1SK } of queryAll(listingQuery(GATE_LISTING_PARTITION))) names.push(String(GSI1SK));
  return names;
};
