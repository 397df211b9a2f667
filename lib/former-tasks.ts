/**
 * Task functions of the last release that this one has renamed or removed: by state machine and file name, with the task that does
 * their work now. Executions that the last release started still call them. Remove an entry with the release after.
 */
export const FORMER_TASKS: Record<string, Record<string, string>> = {};
