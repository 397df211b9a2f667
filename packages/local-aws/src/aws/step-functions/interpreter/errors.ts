/** The error of a state: `Retry` and `Catch` match its name; the message is the cause. */
export class TaskError extends Error {
  override readonly name: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.name = error;
  }
}

/** An error that always ends the execution: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html */
export const runtimeError = (cause: string): TaskError => new TaskError('States.Runtime', cause);

/** 256 KiB, the limit on an input, an output and a task's result: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
export const MAX_DATA_BYTES = 262_144;

/** Throws `States.DataLimitExceeded` for the result of a state or an item over 256 KiB. */
export const checkDataSize = (data: unknown, state: string): void => {
  if (Buffer.byteLength(JSON.stringify(data ?? null)) <= MAX_DATA_BYTES) return;
  const cause = `The state/task '${state}' returned a result with a size exceeding the maximum number of bytes service limit.`;
  throw new TaskError('States.DataLimitExceeded', cause);
};

/** Whether `ErrorEquals` names an error, itself or by a wildcard. */
export const matchesError = (names: readonly string[], error: string): boolean => {
  if (error === 'States.Runtime') return false;
  return names.some((name) => {
    if (name === error) return true;
    if (error === 'States.DataLimitExceeded') return false;
    return name === 'States.ALL' || (name === 'States.TaskFailed' && error !== 'States.Timeout');
  });
};
