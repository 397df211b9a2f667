import * as z from 'zod/mini';
import { CATALOG } from '../models/catalog.ts';
import { pauseKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { deleteItems, putWrite, type StoredItem } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { addSeconds, type Instant, latestEndMs, toEpochSeconds } from '../time.ts';
import type { EndUserId } from './end-users.ts';

const Pause = z.object({ until: z.string() });

/**
 * Access pattern 38: pauses an end-user's creations with a model for `pauseSeconds` after a provider timeout;
 * a later timeout extends it.
 */
export const pauseWrite = (
  id: EndUserId & { model: string },
  failedAt: Instant,
  pauseSeconds: number,
): TransactItem => {
  const until = addSeconds(failedAt, pauseSeconds);
  return putWrite({ ...pauseKey(id), until, [TTL_ATTRIBUTE]: toEpochSeconds(until) });
};

/** The longest pause that an operator can set (`lib/context.ts`). */
const MAX_PAUSE_SECONDS = 3_600;

/**
 * Whole seconds left of a stored pause, at least 1. Undefined without a pause, after its end, and for a pause set by a clock far
 * ahead.
 */
export const pauseSecondsLeft = (item: StoredItem | undefined, now: Date): number | undefined => {
  if (!item) return undefined;
  const untilMs = Date.parse(Pause.parse(item).until);
  const left = (untilMs - now.getTime()) / 1000;
  return left > 0 && untilMs <= latestEndMs(now, MAX_PAUSE_SECONDS * 1000) ? Math.ceil(left) : undefined;
};

/** Access pattern 38: removes all pauses of an end-user. */
export const removePauses = (id: EndUserId): Promise<void> =>
  deleteItems(CATALOG.map(({ id: model }) => pauseKey({ ...id, model })));
