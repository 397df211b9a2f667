import { type Failure, UNEXPECTED_ERROR } from '../errors.ts';
import { logger } from '../observability.ts';
import { DEADLINE_FAILURE } from './workflow-rules.ts';

/** An error that a state of the workflow caught, as Step Functions words it. */
export interface CaughtError {
  Error: string;
  Cause?: string | undefined;
}

const PROVIDER_BUSY: Failure = {
  code: 'provider_error',
  message: 'The upstream provider did not take the request.',
};

/** What to record for errors that states may catch; any other one is unexpected. */
const BY_NAME: Record<string, Failure> = {
  ProviderBusyError: PROVIDER_BUSY,
  ProviderCallInFlightError: PROVIDER_BUSY,
  'States.Timeout': DEADLINE_FAILURE,
};

/** What the last step said, as far as a failure goes. */
export interface LastStep {
  next: string;
  error?: Failure | undefined;
}

/**
 * The failure a request ends with: what a caught error stands for, else what the last step found. A time
 * limit that ran out once the provider had produced everything is ours, not the provider's. An unexpected
 * error is logged with its cause, as the caller learns nothing of it.
 */
export const failureOfWorkflow = (step: LastStep | undefined, caught: CaughtError | undefined): Failure => {
  if (!caught && step?.error) return step.error;
  const known = caught && Object.hasOwn(BY_NAME, caught.Error) ? BY_NAME[caught.Error] : undefined;
  if (known && step?.next !== 'store') return known;
  logger.error('workflow step failed', { next: step?.next, errorName: caught?.Error, cause: caught?.Cause });
  return UNEXPECTED_ERROR;
};
