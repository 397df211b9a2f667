import * as z from 'zod/mini';
import { CATALOG } from '../models/catalog.ts';
import { deleteItems } from '../table/batches.ts';
import { pauseKey, TTL_ATTRIBUTE } from '../table/keys.ts';
import { type StoredItem, tableName } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { addSeconds, type Instant, toEpochSeconds } from '../time.ts';
import type { EndUserId } from './end-users.ts';

/** One end-user and one model, paused because a request of theirs timed out at the provider. */
export interface Paused extends EndUserId {
  model: string;
}

const Pause = z.object({ until: z.string() });

/** Pauses an end-user's creations with a model for a while; a later time-out prolongs it. */
export const pauseWrite = (paused: Paused, failedAt: Instant, pauseSeconds: number): TransactItem => {
  const until = addSeconds(failedAt, pauseSeconds);
  return {
    Put: {
      TableName: tableName(),
      Item: { ...pauseKey(paused), until, [TTL_ATTRIBUTE]: toEpochSeconds(until) },
    },
  };
};

/** Whole seconds, at least 1, for which a stored pause still holds; undefined when it is over or there is none. */
export const pauseSecondsLeft = (item: StoredItem | undefined, now: Date): number | undefined => {
  if (!item) return undefined;
  const left = (Date.parse(Pause.parse(item).until) - now.getTime()) / 1000;
  return left > 0 ? Math.ceil(left) : undefined;
};

/** Removes every pause of an end-user. */
export const removePauses = (id: EndUserId): Promise<void> =>
  deleteItems(CATALOG.map(({ id: model }) => pauseKey({ ...id, model })));
