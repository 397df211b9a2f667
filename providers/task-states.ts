/** The state of a task. Makers spell the same states differently. */
export type TaskState = 'unfinished' | 'succeeded' | 'failed' | 'timed-out';

const STATES: Readonly<Record<TaskState, readonly string[]>> = {
  unfinished: [
    'queued',
    'pending',
    'running',
    'processing',
    'inqueue',
    'inprogress',
    'submitted',
    'starting',
  ],
  succeeded: ['succeeded', 'success', 'succeed', 'completed', 'finished', 'done'],
  failed: ['failed', 'failure', 'error', 'cancelled', 'canceled', 'aborted', 'rejected', 'terminated'],
  'timed-out': ['expired', 'timeout', 'timedout'],
};

/** The state that a status names; undefined for one that is not known. */
export const taskStateOf = (status: string): TaskState | undefined => {
  const word = status.toLowerCase().replace(/[^a-z]/g, '');
  return (Object.keys(STATES) as TaskState[]).find((state) => STATES[state].includes(word));
};
