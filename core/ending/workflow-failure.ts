import * as z from 'zod/mini';
import { type Failure, StoredFailure, UNEXPECTED_ERROR } from '../errors.ts';
import { logger } from '../observability.ts';
import { findRequest } from '../requests/requests.ts';

/** A request has failed and is refunded: `generation` catches this, so that the execution fails too. */
export class RequestFailedError extends Error {
  override name = 'RequestFailedError';
}

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
