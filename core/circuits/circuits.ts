import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { logger } from '../observability.ts';
import { batchGetAll } from '../table/batches.ts';
import { circuitKey } from '../table/keys.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import { type Beside, writeBeside, writeItem, writeUnlessRefused } from '../table/transactions.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import {
  CAUSES,
  type Cause,
  type Circuit,
  CLOSED,
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
const countName = (count: Count, minute: number): string => `${count}#${minute}`;

const toCircuit = (item: StoredItem | undefined): Circuit => {
  if (!item) return CLOSED;
  const { cause, openedAt, openUntil, pauseSeconds, probe, probeUntil, leftAt } = StoredCircuit.parse(item);
  const counts = (count: Count): Map<number, number> =>
    new Map(
      Object.entries(item).flatMap(([name, value]) =>
        name.startsWith(`${count}#`) ? [[Number(name.slice(count.length + 1)), Number(value)] as const] : [],
      ),
    );
  const isOpen = cause !== undefined && openedAt !== undefined && openUntil !== undefined;
  return {
    bad: counts('bad'),
    good: counts('good'),
    leftAt,
    opened: isOpen
      ? {
          ...{ cause, since: openedAt, until: openUntil, pauseSeconds: pauseSeconds ?? 0 },
          probe: probe === undefined ? undefined : { requestId: probe, until: probeUntil ?? openUntil },
        }
      : undefined,
  };
};

/** Access pattern 132: the circuits of routes by their names, strongly consistent. */
export const readCircuits = async (routes: readonly string[]): Promise<Map<string, Circuit>> => {
  const items = await batchGetAll(routes.map(circuitKey));
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

/** Forgets what was read of a route: it has changed. */
const forget = (route: string): void => {
  cached.delete(route);
};

/**
 * Access pattern 133: counts ends of calls and tasks of a route, and removes counts that are too old. Leaves the route out when
 * so many failed lately, with `cause`.
 */
export const countEnds = async (
  route: string,
  { bad, good }: Record<Count, number>,
  cause: Cause,
  now: Date,
): Promise<void> => {
  const minute = minuteOf(now);
  const known = cached.get(route)?.circuit ?? CLOSED;
  const old = COUNTS.flatMap((count) =>
    [...known[count].keys()]
      .filter((counted) => counted <= minute - WINDOW_MINUTES)
      .map((counted) => countName(count, counted)),
  );
  const added = [['bad', bad] as const, ['good', good] as const].filter(([, number]) => number > 0);
  const { Attributes } = await writeItem(
    new UpdateCommand({
      TableName: tableName(),
      Key: circuitKey(route),
      UpdateExpression: [
        `ADD ${added.map(([count]) => `#${count} :${count}`).join(', ')}`,
        ...(old.length > 0 ? [`REMOVE ${old.map((_, index) => `#old${index}`).join(', ')}`] : []),
      ].join(' '),
      ExpressionAttributeNames: Object.fromEntries([
        ...added.map(([count]) => [`#${count}`, countName(count, minute)]),
        ...old.map((name, index) => [`#old${index}`, name]),
      ]),
      ExpressionAttributeValues: Object.fromEntries(added.map(([count, number]) => [`:${count}`, number])),
      ReturnValues: 'ALL_NEW',
    }),
  );
  const circuit = remember(route, toCircuit(Attributes), now);
  if (!circuit.opened && isFailing(circuit, now)) await openCircuit(route, cause, now);
};

/** Access pattern 134: leaves a route out. Does nothing when it is left out because of failures already. */
export const openCircuit = async (route: string, cause: Cause, now: Date): Promise<void> => {
  const pauseSeconds = pauseAfter(undefined);
  const isOpened = await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: circuitKey(route),
      UpdateExpression: 'SET cause = :cause, openedAt = :now, openUntil = :until, pauseSeconds = :pause',
      ConditionExpression: 'attribute_not_exists(openedAt)',
      ExpressionAttributeValues: {
        ':cause': cause,
        ':now': toInstant(now),
        ':until': addSeconds(toInstant(now), pauseSeconds),
        ':pause': pauseSeconds,
      },
    }),
  );
  forget(route);
  if (isOpened) logger.error('a route is left out', { route, cause });
};

/**
 * Access pattern 135: lets one request try a route that is left out, until then. False when another one tries it, or none may yet. Repeating
 * it is harmless.
 */
export const claimProbe = async (
  route: string,
  requestId: string,
  until: Instant,
  now: Date,
): Promise<boolean> => {
  const isClaimed = await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: circuitKey(route),
      UpdateExpression: 'SET probe = :request, probeUntil = :until',
      ConditionExpression:
        'attribute_exists(openedAt) AND attribute_not_exists(leftAt) AND ' +
        '((attribute_not_exists(probe) AND openUntil <= :now) OR probeUntil <= :now OR probe = :request)',
      ExpressionAttributeValues: { ':request': requestId, ':until': until, ':now': toInstant(now) },
    }),
  );
  forget(route);
  return isClaimed;
};

/** Access pattern 136: uses a route again, and forgets its counts. Does nothing unless this request tries it. */
export const closeCircuit = async (route: string, requestId: string, now: Date): Promise<void> => {
  const counts = COUNTS.flatMap((count) =>
    Array.from({ length: WINDOW_MINUTES + 1 }, (_, ago) => countName(count, minuteOf(now) + 1 - ago)),
  );
  const isClosed = await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: circuitKey(route),
      UpdateExpression: `REMOVE cause, openedAt, openUntil, pauseSeconds, probe, probeUntil, ${counts
        .map((_, index) => `#count${index}`)
        .join(', ')}`,
      ConditionExpression: 'probe = :request',
      ExpressionAttributeNames: Object.fromEntries(counts.map((name, index) => [`#count${index}`, name])),
      ExpressionAttributeValues: { ':request': requestId },
    }),
  );
  forget(route);
  if (isClosed) logger.info('a route is used again', { route, requestId });
};

/** Access pattern 137: leaves a route out for longer after a probe that failed. Does nothing unless this request tries it. */
export const reopenCircuit = async (route: string, requestId: string, now: Date): Promise<void> => {
  const { opened } = (await readCircuits([route])).get(route) ?? CLOSED;
  const next = pauseAfter(opened?.pauseSeconds);
  await writeUnlessRefused(
    new UpdateCommand({
      TableName: tableName(),
      Key: circuitKey(route),
      UpdateExpression: 'SET openUntil = :until, pauseSeconds = :pause REMOVE probe, probeUntil',
      ConditionExpression: 'probe = :request',
      ExpressionAttributeValues: {
        ':request': requestId,
        ':until': addSeconds(toInstant(now), next),
        ':pause': next,
      },
    }),
  );
  forget(route);
};

/** Access pattern 138: an operator leaves a route out, or with `undefined` uses it again. Failures leave it out besides. */
export const putLeft = async (route: string, leftAt: Instant | undefined, beside: Beside): Promise<void> => {
  await writeBeside(
    new UpdateCommand({
      TableName: tableName(),
      Key: circuitKey(route),
      ...(leftAt === undefined
        ? { UpdateExpression: 'REMOVE leftAt' }
        : {
            UpdateExpression: 'SET leftAt = if_not_exists(leftAt, :now)',
            ExpressionAttributeValues: { ':now': leftAt },
          }),
    }),
    beside,
  );
};
