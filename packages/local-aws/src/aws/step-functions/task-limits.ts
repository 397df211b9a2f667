import { MAX_TIMER_SECONDS } from './prepare-state.ts';
import { FatalTaskError } from './types.ts';

/** How long a task may take in all and between heartbeats, in seconds; undefined: no limit. */
export interface TaskLimits {
  timeoutSeconds: number | undefined;
  heartbeatSeconds: number | undefined;
}

const seconds = (field: string, value: unknown): number | undefined => {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) > 0) return Number(value);
  throw new FatalTaskError('States.Runtime', `${field} must be a positive integer, not ${value}`);
};

/** Reads the limits of a task. Throws `States.Runtime`, as Step Functions does, where one is no positive integer or the heartbeat is not the shorter. */
export const readTaskLimits = (timeout: unknown, heartbeat: unknown): TaskLimits => {
  const timeoutSeconds = seconds('TimeoutSeconds', timeout);
  const heartbeatSeconds = seconds('HeartbeatSeconds', heartbeat);
  if (heartbeatSeconds !== undefined && timeoutSeconds !== undefined && heartbeatSeconds >= timeoutSeconds) {
    const cause = `HeartbeatSeconds (${heartbeatSeconds}) must be smaller than TimeoutSeconds (${timeoutSeconds})`;
    throw new FatalTaskError('States.Runtime', cause);
  }
  return { timeoutSeconds, heartbeatSeconds };
};

/** A limit that a timer of Node can be set to. */
export const timerSeconds = (limit: number): number => Math.min(limit, MAX_TIMER_SECONDS);
