import { NotFoundError, TemporarilyUnavailableError } from './errors.ts';
import type { CallOptions, Http, Path } from './http.ts';
import { sleep } from './sleep.ts';
import type { BulkDeletion } from './types.ts';

const IDS_PER_CALL = 200;
/** A deletion of an end-user is called again at most this often; each call removes thousands of requests. */
const MAX_DELETION_CALLS = 1_000;

/** Repeats a deletion until it is complete. Returns `gone` if an earlier call may have done it and nothing is left. */
export const deleteFully = async <T>(
  http: Http,
  path: Path,
  gone: T,
  options: CallOptions = {},
): Promise<T> => {
  let mayBeDone = false;
  const lostOne = () => {
    mayBeDone = true;
  };
  for (let calls = 1; ; calls += 1) {
    try {
      return await http.call<T>('DELETE', path, options, { lostOne });
    } catch (error) {
      if (mayBeDone && error instanceof NotFoundError) return gone;
      if (!(error instanceof TemporarilyUnavailableError) || calls === MAX_DELETION_CALLS) throw error;
      lostOne();
      await sleep((error.retryAfterSeconds ?? 1) * 1000, options.signal);
    }
  }
};

/** Deletes any number of requests, and adds up the outcomes of the calls. */
export const deleteInBatches = async (
  http: Http,
  requestIds: readonly string[],
  options?: CallOptions,
): Promise<BulkDeletion> => {
  const distinct = [...new Set(requestIds)];
  const conflicts: string[] = [];
  const notFound: string[] = [];
  const sum = { requested: distinct.length, deleted: 0, removedObjects: 0, conflicts, notFound };
  for (let at = 0; at < distinct.length; at += IDS_PER_CALL) {
    const body = { requestIds: distinct.slice(at, at + IDS_PER_CALL) };
    const one = await http.call<BulkDeletion>('POST', ['generations', 'bulk-delete'], options, { body });
    sum.deleted += one.deleted;
    sum.removedObjects += one.removedObjects;
    conflicts.push(...one.conflicts);
    notFound.push(...one.notFound);
  }
  return sum;
};
