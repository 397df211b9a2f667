import { type Failure, UNEXPECTED_ERROR } from '../errors.ts';
import { logger } from '../observability.ts';

/** An error caught by a state, in the form Step Functions gives it. */
export interface CaughtError {
  Error: string;
  Cause?: string | undefined;
}

/** The fields of the last step's result that decide the failure. */
export interface LastStep {
  next: string;
  error?: Failure | undefined;
}

/**
 * The failure to record for a request: the last step's own, or ours when storing failed or the step is
 * unknown. A failure of ours is logged with the last error a state caught, because the caller sees nothing of
 * it.
 */
export const failureOfWorkflow = (step: LastStep | undefined, caught: CaughtError | undefined): Failure => {
  const failure = step?.next === 'fail' && step.error ? step.error : UNEXPECTED_ERROR;
  if (failure.code === 'internal_error') {
    logger.error('workflow step failed', {
      next: step?.next,
      errorName: caught?.Error,
      cause: caught?.Cause,
    });
  }
  return failure;
};
