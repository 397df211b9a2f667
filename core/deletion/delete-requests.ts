import { inParallel } from '../concurrency/in-parallel.ts';
import { newDeletionId, requestKindOf } from '../ids.ts';
import { logger, runOrLog } from '../observability.ts';
import { removeRequest } from '../requests/deleted-requests.ts';
import { isRemoved, isTerminal, type StoredRequest, statusAt } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { waitForTable } from '../table/retries.ts';
import { type Clock, systemClock } from '../time.ts';
import { finishDeletion } from './finish-deletion.ts';

/** The outcome of a deletion: done by this call, refused because the request is unfinished, or nothing to delete. */
export type Deletion =
  | { outcome: 'deleted'; removedObjects: number }
  | { outcome: 'conflict' }
  | { outcome: 'not_found' };

/** The outcome of one of many deletions; `failed` when it could not be done now and may be repeated. */
export type DeletionOfMany = Deletion | { outcome: 'failed' };

/**
 * Deletes one request of an account with its files and everything else stored for it.
 *
 * 1. Refuse a request that is absent, another account's, or unfinished, as far as this version knows.
 * 2. Replace the record by a mark that names its files. Only one of several concurrent calls removes and counts the record.
 * 3. Remove the files and the operators' traces. The reconciler resumes an interrupted or failed removal.
 */
export const deleteRequest = (accountId: string, requestId: string, now: Date): Promise<Deletion> =>
  deletionOf({ accountId, requestId }, now)();

/**
 * The deletion of a request. May run again after a throw: a record removed by an earlier run, whose answer was lost, still counts
 * as deleted by this deletion. `record` gets the outcome as soon as the record is removed, and again with the number of removed
 * files.
 */
const deletionOf = (
  { accountId, requestId }: Pick<StoredRequest, 'accountId' | 'requestId'>,
  now: Date,
  record: (deletion: Deletion) => unknown = () => undefined,
  isWanted: (request: StoredRequest) => boolean = () => true,
): (() => Promise<Deletion>) => {
  const deletionId = newDeletionId(now);
  let request: StoredRequest | undefined;
  return async () => {
    request = (await findRequest(requestId)) ?? request;
    if (request?.accountId !== accountId || !isWanted(request)) return { outcome: 'not_found' };
    if (!isTerminal(request)) return { outcome: 'conflict' };
    if (request.unknownStatus !== undefined) return { outcome: 'conflict' };

    const deleted = await removeRequest(request, now, deletionId);
    if (!deleted) return { outcome: 'not_found' };
    // A request past its retention already reads as absent.
    const isAbsent = isRemoved(request, now);
    // The files of an expired request count as removed already.
    const isExpired = statusAt(request, now) === 'expired';
    let deletion: Deletion = isAbsent ? { outcome: 'not_found' } : { outcome: 'deleted', removedObjects: 0 };
    record(deletion);
    const failure = { message: 'a deletion is left to the reconciler', level: 'warn', requestId } as const;
    await runOrLog(failure, () =>
      finishDeletion(deleted, (removedObjects) => {
        if (isAbsent || isExpired) return;
        deletion = { outcome: 'deleted', removedObjects };
        record(deletion);
      }),
    );
    return deletion;
  };
};

const CONCURRENT_DELETIONS = 16;
/**
 * Attempts at one deletion. Every attempt also retries its calls to the table, so all attempts together outlast a few busy
 * seconds.
 */
const MAX_ATTEMPTS = 10;

/**
 * Deletes requests, 16 at a time. A request that `isWanted` rejects counts as `not_found`. Once `keepGoing` returns false, no
 * deletion is begun or repeated. A deletion that throws is retried, then logged and reported as `failed`. Returns the outcomes of
 * the attempted deletions in the order of the ids; `complete` when every id was attempted. `deletions` gets each outcome at once.
 */
export const deleteRequests = async (
  accountId: string,
  requestIds: AsyncIterable<string> | Iterable<string>,
  now: Date,
  {
    keepGoing = () => true,
    isWanted,
    deletions = new Map(),
  }: {
    keepGoing?: () => boolean;
    isWanted?: (request: StoredRequest) => boolean;
    deletions?: Map<string, DeletionOfMany>;
  } = {},
): Promise<{ deletions: ReadonlyMap<string, DeletionOfMany>; complete: boolean }> => {
  let complete = true;
  const idsInTime = async function* (): AsyncGenerator<string> {
    for await (const requestId of requestIds) {
      if (!keepGoing()) {
        complete = false;
        return;
      }
      yield requestId;
    }
  };
  await inParallel(idsInTime(), CONCURRENT_DELETIONS, async (requestId) => {
    const record = (deletion: DeletionOfMany) => deletions.set(requestId, deletion);
    record({ outcome: 'failed' });
    const run = deletionOf({ accountId, requestId }, now, record, isWanted);
    const deletion = await attemptDeletion(requestId, run, keepGoing);
    record(deletion);
    if (deletion.outcome === 'failed') complete = false;
  });
  return { deletions, complete };
};

const attemptDeletion = async (
  requestId: string,
  run: () => Promise<Deletion>,
  keepGoing: () => boolean,
): Promise<DeletionOfMany> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !keepGoing()) {
        logger.error('a request could not be deleted', { requestId, error: error as Error });
        return { outcome: 'failed' };
      }
      await waitForTable(attempt);
    }
  }
};

/**
 * Deletes requests of an account and returns the outcome of each id, in their order, by 24 s after
 * `startedAt`. An id not deleted by then is `failed`: repeat the call, or the reconciler finishes a deletion
 * that has begun. A text that is not a request id is not looked up.
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
  const options = { keepGoing: whileInTime(startedAt, clock), deletions: outcomes };
  const deletions = deleteRequests(accountId, ids.filter(requestKindOf), startedAt, options);
  await answerOf(deletions, startedAt, clock);
  return new Map(outcomes);
};

/** Milliseconds in which an API call begins and repeats deletions. */
const BUDGET_MS = 20_000;
/** Latest answer of a call, with deletions under way or not: API functions and API Gateway end soon after. */
const ANSWER_MS = 24_000;

const elapsedMs = (startedAt: Date, clock: Clock): number => clock.now().getTime() - startedAt.getTime();

/** Whether a call may still begin a deletion: for 20 s after its start. */
export const whileInTime =
  (startedAt: Date, clock: Clock): (() => boolean) =>
  () =>
    elapsedMs(startedAt, clock) < BUDGET_MS;

/**
 * The result of the work of a call that started then, or undefined after 24 s. The work then keeps running, so it must be
 * safe to repeat.
 */
export const answerOf = async <T>(
  work: Promise<T>,
  startedAt: Date,
  clock: Clock,
): Promise<T | undefined> => {
  const { promise: timeUp, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ANSWER_MS - elapsedMs(startedAt, clock));
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
};
