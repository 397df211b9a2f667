/** Statuses of an execution that ended without completing. Step Functions reports them, and the reconciler repairs. */
export const LOST_STATUSES = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;
