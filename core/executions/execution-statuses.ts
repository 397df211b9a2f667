import { ERROR_CODES } from '../errors.ts';

/**
 * Statuses of an execution that may have ended without its request. Step Functions reports them, and the reconciler repairs, unless the
 * execution failed with one of `SETTLED_ERRORS`.
 */
export const LOST_STATUSES = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;

/**
 * Statuses of a webhook's execution that ended by a fault of ours. A webhook that its receiver did not accept ends in success;
 * an operator or the deletion of the stack stops an execution.
 */
export const FAILED_STATUSES = [
  'FAILED',
  'TIMED_OUT',
] as const satisfies readonly (typeof LOST_STATUSES)[number][];

/**
 * Errors of executions whose request failed and is refunded: the codes that callers see. No error of ours, of Lambda or of Step Functions
 * has such a name.
 */
export const SETTLED_ERRORS: readonly string[] = ERROR_CODES;
