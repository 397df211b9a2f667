import { requestKey } from '../../core/table/keys.ts';
import type { Life } from './witness.ts';
import type { World } from './world.ts';

/** When the index of an end-user's requests is read again after their removal: decisions, section 6. */
const PASSES_MS = [60_000, 900_000, 86_400_000];
/** How long such a pass may take, from when it is due to its last deletion. */
const PASS_MS = 1_800_000;

/** From when on the indexes show a request, in epoch milliseconds; infinite when they never do. */
const shownFrom = ({ table }: World, { requestId }: Life): number =>
  table.shownFrom({ ...requestKey(requestId) }) ?? Number.POSITIVE_INFINITY;

/** Whether the indexes show a request at an instant. */
export const isListed = (world: World, life: Life, at: number): boolean => shownFrom(world, life) <= at;

/** By when a request is gone whose end-user was removed, in epoch milliseconds: by the first pass to which the index shows it. */
export const goneBy = (world: World, life: Life, startedAt: number): number => {
  const hiddenMs = shownFrom(world, life) - startedAt;
  return startedAt + (PASSES_MS.find((pass) => pass >= hiddenMs) ?? 0) + PASS_MS;
};
