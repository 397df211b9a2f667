import * as z from 'zod/mini';
import { logger } from '../observability.ts';
import { circuitKey } from '../table/keys.ts';
import { batchGet, type StoredItem, type UpdateParts, updateOf } from '../table/table.ts';
import { type Beside, writeBeside, writeItem, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import {
  CAUSES,
  type Cause,
  type Circuit,
  CLOSED,
  type Ends,
  isFailing,
  minuteOf,
  pauseAfter,
  WINDOW_MINUTES,
} from './circuit-rules.ts';

const StoredCircuit = z.object({
  cause: z.optional(z.catch(z.enum(CAUSES), 'calls')),
  openedAt: z.optional(z.string()),
  openUntil: z.optional(z.string()),
  pauseSeconds: z.optional(z.number()),
  probe: z.optional(z.string()),
  probeUntil: z.optional(z.string()),
  leftAt: z.optional(z.string()),
});
/** Counts are attributes of the circuit's item, one for each minute in which anything was counted. */
const COUNTS = ['bad', 'good'] as const;
type Count = (typeof COUNTS)[number];
/** What is counted. */
const COUNTED = ['calls', 'tasks'] as const;
type Counted = (typeof COUNTED)[number];
const countName = (counted: Counted, count: Count, minute: number | string): string =>
  `${counted}-${count}#${minute}`;

const toCircuit = (item: StoredItem | undefined): Circuit => {
  if (!item) return CLOSED;
  const { cause, openedAt, openUntil, pauseSeconds, probe, probeUntil, leftAt } = StoredCircuit.parse(item);
  const counts = (counted: Counted, count: Count): Map<number, number> => {
    const prefix = countName(counted, count, '');
    const found = Object.entries(item).filter(([name]) => name.startsWith(prefix));
    return new Map(found.map(([name, value]) => [Number(name.slice(prefix.length)), Number(value)]));
  };
  const endsOf = (counted: Counted): Ends => ({
    bad: counts(counted, 'bad'),
    good: counts(counted, 'good'),
  });
  const isOpen = cause !== undefined && openedAt !== undefined && openUntil !== undefined;
  return {
    calls: endsOf('calls'),
    tasks: endsOf('tasks'),
    leftAt,
    opened: isOpen
      ? {
          ...{ cause, since: openedAt, until: openUntil, pauseSeconds: pauseSeconds ?? 0 },
          probe: probe === undefined ? undefined : { requestId: probe, until: probeUntil ?? openUntil },
        }
      : undefined,
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

/**
 * Access pattern 64: counts ends of calls or tasks of a route, and removes counts that are too old. Leaves the route out when
 * so many of them failed lately.
 */
export const countEnds = async (
  route: string,
  counted: Counted,
  { bad, good }: Record<Count, number>,
  now: Date,
): Promise<void> => {
  const minute = minuteOf(now);
  const known = cached.get(route)?.circuit ?? CLOSED;
  const old = COUNTED.flatMap((each) =>
    COUNTS.flatMap((count) =>
      [...known[each][count].keys()]
        .filter((then) => then <= minute - WINDOW_MINUTES)
        .map((then) => countName(each, count, then)),
    ),
  );
  const added = [['bad', bad] as const, ['good', good] as const].filter(([, number]) => number > 0);
  const { Attributes } = await writeItem(
    updateOf(circuitKey(route), {
      UpdateExpression: [
        `ADD ${added.map(([count]) => `#${count} :${count}`).join(', ')}`,
        ...(old.length > 0 ? [`REMOVE ${old.map((_, index) => `#old${index}`).join(', ')}`] : []),
      ].join(' '),
      ExpressionAttributeNames: Object.fromEntries([
        ...added.map(([count]) => [`#${count}`, countName(counted, count, minute)]),
        ...old.map((name, index) => [`#old${index}`, name]),
      ]),
      ExpressionAttributeValues: Object.fromEntries(added.map(([count, number]) => [`:${count}`, number])),
      ReturnValues: 'ALL_NEW',
    }),
  );
  const circuit = remember(route, toCircuit(Attributes), now);
  if (!circuit.opened && isFailing(circuit[counted], now)) await openCircuit(route, counted, now);
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
  const minutes = Array.from({ length: WINDOW_MINUTES + 1 }, (_, ago) => minuteOf(now) + 1 - ago);
  const counts = COUNTED.flatMap((counted) =>
    COUNTS.flatMap((count) => minutes.map((minute) => countName(counted, count, minute))),
  );
  const removed = counts.map((_, index) => `#count${index}`).join(', ');
  const isClosed = await change(route, {
    UpdateExpression: `REMOVE cause, openedAt, openUntil, pauseSeconds, probe, probeUntil, ${removed}`,
    ConditionExpression: 'probe = :request',
    ExpressionAttributeNames: Object.fromEntries(counts.map((name, index) => [`#count${index}`, name])),
    ExpressionAttributeValues: { ':request': requestId },
  });
  if (isClosed) logger.info('a route is used again', { route, requestId });
};

/** Access pattern 65: leaves a route out for longer after a probe that failed. Does nothing unless this request tries it. */
export const reopenCircuit = async (route: string, requestId: string, now: Date): Promise<void> => {
  const { opened } = (await readCircuits([route])).get(route) ?? CLOSED;
  if (opened?.probe?.requestId !== requestId) return;
  const pauseSeconds = pauseAfter(opened.pauseSeconds);
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
