import { type Failure, UNEXPECTED_ERROR } from '../errors.ts';
import { logger } from '../observability.ts';
import { DEADLINE_FAILURE, PROVIDER_BUSY } from './workflow-rules.ts';

/** An error caught by a state, in the form Step Functions gives it. */
export interface CaughtError {
  Error: string;
  Cause?: string | undefined;
}

/** The failures that expected errors stand for, by error name. Any other error is unexpected. */
const BY_NAME: Record<string, Failure> = {
  ProviderCallInFlightError: PROVIDER_BUSY,
  'States.Timeout': DEADLINE_FAILURE,
};

/** The fields of the last step's result that decide the failure. */
export interface LastStep {
  next: string;
  error?: Failure | undefined;
}

/**
 * The failure to record for a request: the last step's own, unless an error was caught after it. An error
 * caught while storing is ours, not the provider's. An unexpected error is logged with its cause, because the
 * caller is told nothing about it.
 */
export const failureOfWorkflow = (step: LastStep | undefined, caught: CaughtError | undefined): Failure => {
  if (!caught && step?.error) return step.error;
  const known = caught && Object.hasOwn(BY_NAME, caught.Error) ? BY_NAME[caught.Error] : undefined;
  if (known && step?.next !== 'store') return known;
  logger.error('workflow step failed', { next: step?.next, errorName: caught?.Error, cause: caught?.Cause });
  return UNEXPECTED_ERROR;
};
