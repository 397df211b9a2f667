import { logger } from '../observability.ts';
import { circuitKey } from '../table/keys.ts';
import { batchGet, type StoredItem, type UpdateParts, updateOf } from '../table/table.ts';
import { type Beside, writeBeside, writeItem, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import {
  type Cause,
  type Circuit,
  CLOSED,
  type Counted,
  countAt,
  countsAt,
  ENDS,
  isFailing,
  pauseAfter,
  StoredCircuit,
} from './circuit-rules.ts';

const toCircuit = (item: StoredItem = {}): Circuit => {
  const counts = Object.entries(item).filter(([name]) => name.includes('#'));
  return {
    ...StoredCircuit.parse(item),
    counts: new Map(counts.map(([name, count]) => [name, Number(count)])),
  };
};

/** Access pattern 63: the circuits of routes by their names, strongly consistent. */
export const readCircuits = async (routes: readonly string[]): Promise<Map<string, Circuit>> => {
  const items = await batchGet(routes.map(circuitKey));
  return new Map(routes.map((route, index) => [route, toCircuit(items[index])]));
};

/** How long a process uses the circuits that it read. */
const MAX_AGE_MS = 1_000;
const cached = new Map<string, { circuit: Circuit; readAtMs: number }>();
const remember = (route: string, circuit: Circuit, now: Date): Circuit => {
  cached.set(route, { circuit, readAtMs: now.getTime() });
  return circuit;
};

/** As `readCircuits`, at most a second old: each dispatch of a model with several routes needs them. */
export const currentCircuits = async (
  routes: readonly string[],
  now: Date,
): Promise<Map<string, Circuit>> => {
  const isFresh = (route: string): boolean => {
    const readAtMs = cached.get(route)?.readAtMs ?? Number.NEGATIVE_INFINITY;
    return Math.abs(now.getTime() - readAtMs) < MAX_AGE_MS;
  };
  if (!routes.every(isFresh)) {
    for (const [route, circuit] of await readCircuits(routes)) remember(route, circuit, now);
  }
  return new Map(routes.map((route) => [route, cached.get(route)?.circuit ?? CLOSED]));
};

/** Updates a circuit if its condition holds, and forgets what was read of it. Returns whether it held. */
const change = async (route: string, update: UpdateParts): Promise<boolean> => {
  const isDone = await writeUnlessRefused(updateOf(circuitKey(route), update));
  cached.delete(route);
  return isDone;
};

/** The part of an update that removes counts. */
const removing = (counts: readonly string[]) => ({
  names: Object.fromEntries(counts.map((name, index) => [`#count${index}`, name])),
  list: counts.map((_, index) => `#count${index}`).join(', '),
});

/**
 * Access pattern 64: counts ends of calls or tasks of a route, and removes counts that are too old. Leaves the route out when
 * so many of them failed lately.
 */
export const countEnds = async (
  route: string,
  counted: Counted,
  ends: Record<(typeof ENDS)[number], number>,
  now: Date,
): Promise<void> => {
  const added = ENDS.filter((end) => ends[end] > 0);
  if (added.length === 0) return;
  const current = countsAt(now);
  const known = cached.get(route)?.circuit ?? CLOSED;
  const old = removing([...known.counts.keys()].filter((name) => !current.includes(name)));
  const { Attributes } = await writeItem(
    updateOf(circuitKey(route), {
      UpdateExpression: `ADD ${added.map((end) => `#${end} :${end}`).join(', ')}${old.list && ` REMOVE ${old.list}`}`,
      ExpressionAttributeNames: {
        ...Object.fromEntries(added.map((end) => [`#${end}`, countAt(counted, end, now)])),
        ...old.names,
      },
      ExpressionAttributeValues: Object.fromEntries(added.map((end) => [`:${end}`, ends[end]])),
      ReturnValues: 'ALL_NEW',
    }),
  );
  const circuit = remember(route, toCircuit(Attributes), now);
  if (circuit.openedAt === undefined && isFailing(circuit, counted, now))
    await openCircuit(route, counted, now);
};

/** Access pattern 65: leaves a route out. Does nothing when it is left out because of failures already. */
export const openCircuit = async (route: string, cause: Cause, now: Date): Promise<void> => {
  const pauseSeconds = pauseAfter(undefined);
  const isOpened = await change(route, {
    UpdateExpression: 'SET cause = :cause, openedAt = :now, openUntil = :until, pauseSeconds = :pause',
    ConditionExpression: 'attribute_not_exists(openedAt)',
    ExpressionAttributeValues: {
      ':cause': cause,
      ':now': toInstant(now),
      ':until': addSeconds(toInstant(now), pauseSeconds),
      ':pause': pauseSeconds,
    },
  });
  if (isOpened) logger.error('a route is left out', { route, cause });
};

/**
 * Access pattern 65: lets one request try a route that is left out, until then. False when another one tries it, or none may yet. Repeating
 * it is harmless.
 */
export const claimProbe = (route: string, requestId: string, until: Instant, now: Date): Promise<boolean> =>
  change(route, {
    UpdateExpression: 'SET probe = :request, probeUntil = :until',
    ConditionExpression:
      'attribute_exists(openedAt) AND attribute_not_exists(leftAt) AND ' +
      '((attribute_not_exists(probe) AND openUntil <= :now) OR probeUntil <= :now OR probe = :request)',
    ExpressionAttributeValues: { ':request': requestId, ':until': until, ':now': toInstant(now) },
  });

/** Access pattern 65: uses a route again, and forgets its counts. Does nothing unless this request tries it. */
export const closeCircuit = async (route: string, requestId: string, now: Date): Promise<void> => {
  const counts = removing(countsAt(now));
  const isClosed = await change(route, {
    UpdateExpression: `REMOVE cause, openedAt, openUntil, pauseSeconds, probe, probeUntil, ${counts.list}`,
    ConditionExpression: 'probe = :request',
    ExpressionAttributeNames: counts.names,
    ExpressionAttributeValues: { ':request': requestId },
  });
  if (isClosed) logger.info('a route is used again', { route, requestId });
};

/** Access pattern 65: leaves a route out for longer after a probe that failed. Does nothing unless this request tries it. */
export const reopenCircuit = async (route: string, requestId: string, now: Date): Promise<void> => {
  const circuit = (await readCircuits([route])).get(route);
  const pauseSeconds = pauseAfter(circuit?.pauseSeconds);
  await change(route, {
    UpdateExpression: 'SET openUntil = :until, pauseSeconds = :pause REMOVE probe, probeUntil',
    ConditionExpression: 'probe = :request',
    ExpressionAttributeValues: {
      ':request': requestId,
      ':until': addSeconds(toInstant(now), pauseSeconds),
      ':pause': pauseSeconds,
    },
  });
};

/** Access pattern 65: an operator leaves a route out, or with `undefined` uses it again. Failures leave it out besides. */
export const putLeft = async (route: string, leftAt: Instant | undefined, beside: Beside): Promise<void> => {
  const left = {
    UpdateExpression: 'SET leftAt = if_not_exists(leftAt, :now)',
    ExpressionAttributeValues: { ':now': leftAt },
  };
  await writeBeside(
    updateOf(circuitKey(route), leftAt === undefined ? { UpdateExpression: 'REMOVE leftAt' } : left),
    beside,
  );
};
