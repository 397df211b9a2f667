import { runtimeError } from './errors.ts';

/** Limits on a task's duration and on the time between heartbeats, in seconds. Undefined: no limit. */
export interface TaskLimits {
  timeoutSeconds: number | undefined;
  heartbeatSeconds: number | undefined;
}

const seconds = (field: string, value: unknown): number | undefined => {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) > 0) return Number(value);
  throw runtimeError(`${field} must be a positive integer, not ${value}`);
};

/** Reads a task's limits. Throws `States.Runtime`, as Step Functions does, unless both are positive integers and the heartbeat is shorter. */
export const readTaskLimits = (timeout: unknown, heartbeat: unknown): TaskLimits => {
  const timeoutSeconds = seconds('TimeoutSeconds', timeout);
  const heartbeatSeconds = seconds('HeartbeatSeconds', heartbeat);
  if (heartbeatSeconds !== undefined && timeoutSeconds !== undefined && heartbeatSeconds >= timeoutSeconds) {
    const cause = `HeartbeatSeconds (${heartbeatSeconds}) must be smaller than TimeoutSeconds (${timeoutSeconds})`;
    throw runtimeError(cause);
  }
  return { timeoutSeconds, heartbeatSeconds };
};
