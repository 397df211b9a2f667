/** Statuses of an execution that ended without completing. Step Functions reports them, and the reconciler repairs. */
export const LOST_STATUSES = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;

/**
 * Statuses of a webhook's execution that ended by a fault of ours. A webhook that its receiver did not accept ends in success;
 * an operator or the deletion of the stack stops an execution.
 */
export const FAILED_STATUSES = [
  'FAILED',
  'TIMED_OUT',
] as const satisfies readonly (typeof LOST_STATUSES)[number][];
