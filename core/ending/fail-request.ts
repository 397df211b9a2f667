import * as z from 'zod/mini';
import { type Failure, StoredFailure, UNEXPECTED_ERROR } from '../errors.ts';
import { removeObjects } from '../files/bucket.ts';
import { removeFilesOf } from '../files/request-files.ts';
import { logger } from '../observability.ts';
import { latestAttempts } from '../provider-calls/attempt-rules.ts';
import { listAttempts } from '../provider-calls/provider-attempts.ts';
import { possibleClipsOf } from '../requests/file-kinds.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest, recordOutputs } from '../requests/requests.ts';
import { reportTasks } from '../route-pauses/report-results.ts';
import { type Clock, systemClock } from '../time.ts';
import { closeRequest, type Settling } from './close-request.ts';
import { type EndOptions, endRequest } from './end-request.ts';
import { nameInput } from './name-input.ts';
import { RequestFailedError, settleRequest } from './settle-request.ts';

/**
 * Ends a request without outputs as failed, with a full refund, then removes the copies of its reference videos and
 * closes the request. If the provider may still work on its tasks, the reconciler cancels the tasks and closes the request. A
 * terminal request is only closed.
 */
export const failRequest = async (
  requestId: string,
  error: Failure,
  clock: Clock = systemClock,
): Promise<void> => {
  await endAsFailed(await findRequest(requestId), error, clock, {
    mayHaveFiles: false,
    onEnded: reportTasks,
  });
  const removeClips = async (request: StoredRequest): Promise<boolean> =>
    (await removeObjects(possibleClipsOf(request))).length === 0;
  await closeRequest(requestId, removeClips, { clock });
};

/**
 * Ends a request that is given up. A request with outputs, recorded or kept by an interrupted storing, is settled, because the outputs are
 * paid for. Any other request fails as by `failStoredRequest`, unless another run records outputs first.
 */
export const settleOrFailRequest = async (
  requestId: string,
  error: Failure,
  clock: Clock = systemClock,
): Promise<void> => {
  const request = await findRequest(requestId);
  const isOpen = request !== undefined && !isTerminal(request);
  const kept = request?.storedSoFar;
  if (isOpen && !request.outputs && kept) await recordOutputs(requestId, kept);
  if (isOpen && (request.outputs || kept)) {
    await settleRequest(requestId, clock);
    return;
  }
  if (!(await endAsFailed(request, error, clock, { unlessStored: true }))) {
    return settleOrFailRequest(requestId, error, clock);
  }
  await closeStoredRequest(requestId, { clock });
};

/** Ends a request that may have files as failed, with a full refund, then removes the files and closes the request. */
export const failStoredRequest = async (
  requestId: string,
  error: Failure,
  clock: Clock = systemClock,
  options: Pick<EndOptions, 'operatorNote' | 'extraWrites'> = {},
): Promise<void> => {
  await endAsFailed(await findRequest(requestId), error, clock, options);
  await closeStoredRequest(requestId, { clock });
};

/** Ends an unfinished request as failed, then calls `onEnded` with its latest attempts. False when another run stored an output first. */
const endAsFailed = async (
  request: StoredRequest | undefined,
  error: Failure,
  clock: Clock,
  { onEnded, ...options }: EndOptions & { onEnded?: typeof reportTasks },
): Promise<boolean> => {
  if (!request) return true;
  if (!isTerminal(request)) {
    const attempts = latestAttempts(await listAttempts(request.requestId));
    const named = nameInput(error, request, attempts);
    const state = { status: 'failed', error: named } as const;
    const ending = await endRequest({ request, attempts }, state, clock.now(), options);
    if (ending === 'stored') return false;
    await onEnded?.(request, attempts, clock);
  }
  return true;
};

/** Closes a terminal request, after the removal of a failed request's files. Returns as `closeRequest`. */
export const closeStoredRequest = (requestId: string, settling: Settling = {}): Promise<boolean> =>
  closeRequest(
    requestId,
    async (request) =>
      request.status === 'succeeded' || (await removeFilesOf(request, possibleClipsOf(request))).complete,
    settling,
  );

/** The status of a request at the end of its execution, with the error of a failed request; `absent` when the request is deleted. */
export const findEnd = async (
  requestId: string,
): Promise<{ status: string; error?: Pick<Failure, 'code' | 'message'> }> => {
  const request = await findRequest(requestId);
  if (request?.status !== 'failed') return { status: request?.status ?? 'absent' };
  const { code, message } = request.error ?? UNEXPECTED_ERROR;
  return { status: 'failed', error: { code, message } };
};

/**
 * The part of an execution's state that decides its failure: the last step's result and the error of a state that caught an
 * error.
 */
export const FailedExecution = z.object({
  step: z.optional(z.object({ result: z.object({ next: z.string(), error: z.optional(StoredFailure) }) })),
  failure: z.optional(z.object({ Error: z.string(), Cause: z.optional(z.string()) })),
});

/**
 * The failure to record for a request: the last step's own, or ours when storing failed or the step is
 * unknown. A failure of ours is logged with the last error a state caught, because the caller sees nothing of
 * it.
 */
export const failureOfWorkflow = ({ step, failure: caught }: z.infer<typeof FailedExecution>): Failure => {
  const { next, error } = step?.result ?? {};
  const failure = next === 'fail' && error ? error : UNEXPECTED_ERROR;
  // The failure was logged when the request was settled.
  const hasFailed = caught?.Error === new RequestFailedError().name;
  if (failure.code === 'internal_error' && !hasFailed)
    logger.error('workflow step failed', { next, errorName: caught?.Error, cause: caught?.Cause });
  return failure;
};
