import { type Clock, systemClock } from '../clock.ts';
import { requestKindOf } from '../ids.ts';
import { type DeletionOfMany, deleteRequests } from './delete-requests.ts';

/** How long one call begins and repeats deletions. */
const BUDGET_MS = 20_000;
/** When one call answers at the latest, deletions under way or not: API functions and API Gateway end soon after. */
const ANSWER_MS = 24_000;

/**
 * Deletes requests of an account and returns the outcome of each id, in their order, by 24 s after `startedAt`.
 * An id whose deletion could not be done by then is `failed`: a repeated call does it, or the reconciler finishes
 * what was begun. A text that is not a request id is not looked up.
 */
export const bulkDelete = async (
  accountId: string,
  ids: readonly string[],
  startedAt: Date,
  clock: Clock = systemClock,
): Promise<Map<string, DeletionOfMany>> => {
  const outcomes = new Map<string, DeletionOfMany>(
    ids.map((id) => [id, { outcome: requestKindOf(id) ? 'failed' : 'not_found' }]),
  );
  const elapsedMs = (): number => clock.now().getTime() - startedAt.getTime();
  const work = deleteRequests(
    accountId,
    ids.filter(requestKindOf),
    startedAt,
    () => elapsedMs() < BUDGET_MS,
    (id, deletion) => outcomes.set(id, deletion),
  );
  await withinMs(ANSWER_MS - elapsedMs(), work);
  return new Map(outcomes);
};

/** Waits for the work, but no longer than this. */
const withinMs = async (milliseconds: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
};
