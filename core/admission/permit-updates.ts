import { type Gate, type GateState, latestStartMs, type Permit } from './gate-rules.ts';

/** Permits are attributes of the gate's item, so that a permit and the room it takes change in one write. */
export const PERMIT_PREFIX = 'permit#';
export const permitAttribute = (requestId: string): string => PERMIT_PREFIX + requestId;

/** The request that asks for a permit, and how many calls it is for: at once, and in all. */
export interface Entrant {
  requestId: string;
  accountId: string;
  weight: number;
  starts: number;
}

/** By how much the calls of a request move the next start of a gate with a rate on, in milliseconds; 0 without one. */
export const stepMs = ({ intervalMs = 0 }: Gate, { starts }: Entrant): number =>
  Math.ceil(starts * intervalMs);

/** The permit that a request takes, for calls from `startMs` on. */
export const permitOf = ({ accountId, weight }: Entrant, takenMs: number, startMs: number): Permit => ({
  accountId,
  weight,
  takenMs,
  ...(startMs > takenMs && { startMs }),
});

/**
 * The update by which a newcomer takes a permit: refused while a request waits, and without room. DynamoDB has no `max`, so it has one form
 * for an idle gate and one for a rate in use. Without a limit of running calls, it takes a place in time only.
 */
export const newcomerUpdate = (gate: Gate, entrant: Entrant, nowMs: number, isIdle: boolean) => {
  const afterOthers: UpdatePart = {
    set: 'nextStartMs = nextStartMs + :step',
    condition: 'nextStartMs > :now AND nextStartMs <= :latest',
    values: { ':now': nowMs, ':latest': latestStartMs(gate, nowMs), ':step': stepMs(gate, entrant) },
  };
  return joined(
    withoutPermit(entrant),
    { condition: 'attribute_not_exists(queued)' },
    isIdle ? startNow(gate, entrant, nowMs) : afterOthers,
    ...(gate.permits === undefined ? [] : [storePermit(gate, entrant, permitOf(entrant, nowMs, nowMs))]),
  );
};

/** The update by which a waiting request takes a permit: refused without room, and when the next start has changed since it was seen. */
export const waiterUpdate = (
  gate: Gate,
  waiter: Entrant,
  permit: Permit,
  { nextStartMs: seenMs }: Pick<GateState, 'nextStartMs'>,
  nextStartMs: number,
) => {
  const afterSeen: UpdatePart = {
    set: 'nextStartMs = :next',
    condition: 'nextStartMs = :seen',
    values: { ':next': nextStartMs, ':seen': seenMs },
  };
  return joined(
    withoutPermit(waiter),
    permit.startMs === undefined ? startNow(gate, waiter, permit.takenMs) : afterSeen,
    storePermit(gate, waiter, permit),
  );
};

/** A part of an update. Parts are joined with `joined`. */
interface UpdatePart {
  set?: string;
  condition?: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

const joined = (...parts: readonly UpdatePart[]) => ({
  UpdateExpression: `SET ${parts.flatMap(({ set }) => set ?? []).join(', ')}`,
  ConditionExpression: parts.flatMap(({ condition }) => condition ?? []).join(' AND '),
  ExpressionAttributeNames: Object.assign({}, ...parts.map(({ names }) => names)) as Record<string, string>,
  ExpressionAttributeValues: Object.assign({}, ...parts.map(({ values }) => values)) as Record<
    string,
    unknown
  >,
});

const withoutPermit = ({ requestId }: Entrant): UpdatePart => ({
  condition: 'attribute_not_exists(#permit)',
  names: { '#permit': permitAttribute(requestId) },
});

/** Lets the first call start now, if no later start is to come. */
const startNow = (gate: Gate, entrant: Entrant, nowMs: number): UpdatePart => {
  const step = stepMs(gate, entrant);
  return {
    ...(step > 0 && { set: 'nextStartMs = :next' }),
    condition: '(attribute_not_exists(nextStartMs) OR nextStartMs <= :now)',
    values: { ':now': nowMs, ...(step > 0 && { ':next': nowMs + step }) },
  };
};

/** Stores a permit, if there is room for it. */
const storePermit = (gate: Gate, { weight }: Entrant, permit: Permit): UpdatePart => ({
  set: '#permit = :permit, used = if_not_exists(used, :zero) + :weight',
  values: {
    ':permit': permit,
    ':zero': 0,
    ':weight': weight,
    ...(gate.permits !== undefined && { ':most': gate.permits - weight }),
  },
  ...(gate.permits !== undefined && { condition: '(attribute_not_exists(used) OR used <= :most)' }),
});
