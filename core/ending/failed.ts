import type { Failure } from '../errors.ts';
import { removeObjects } from '../files/bucket.ts';
import { removeFilesOf } from '../files/request-files.ts';
import { possibleClipsOf } from '../requests/file-kinds.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { recordOutputs, type TerminalState } from '../requests/requests.ts';
import { reportTasks } from '../route-pauses/report-results.ts';
import type { Ending } from './end-request.ts';
import { nameInput } from './name-input.ts';
import { settledState } from './settled.ts';

/** The ending of a request that may have files: failed with a full refund, its files removed. */
export const failed = (error: Failure): Ending => ({
  stateOf: (request, attempts) => ({ state: failedState(error, request, attempts) }),
  removeFiles: removeFilesOfFailed,
});

/**
 * The ending of a request without outputs: failed with a full refund, the copies of its reference videos removed. Reports its
 * tasks to their routes.
 */
export const failedBeforeStoring = (error: Failure): Ending => ({
  ...failed(error),
  mayHaveFiles: false,
  removeFiles: async (request) => (await removeObjects(possibleClipsOf(request))).length === 0,
  onEnded: reportTasks,
});

/**
 * The ending of a request that is given up. A request with outputs, recorded or kept by an interrupted storing, is settled, because
 * the outputs are paid for. Any other request fails as by `failed`, unless another run stores an output first.
 */
export const givenUp = (error: Failure): Ending => ({
  ...failed(error),
  prepare: async ({ requestId, outputs, storedSoFar }) =>
    outputs === undefined && storedSoFar !== undefined && (await recordOutputs(requestId, storedSoFar)),
  stateOf: (request, attempts, now) =>
    request.outputs
      ? { state: settledState(request, attempts, now) }
      : { state: failedState(error, request, attempts), unlessStored: true },
});

const failedState = (...failure: Parameters<typeof nameInput>): TerminalState => ({
  status: 'failed',
  error: nameInput(...failure),
});

/** Removes the files of a failed request, and none of a succeeded request. Resolves to false while files may be left. */
export const removeFilesOfFailed = async (request: StoredRequest): Promise<boolean> =>
  request.status === 'succeeded' || (await removeFilesOf(request, possibleClipsOf(request))).complete;
