import type { Branch } from './branch.ts';
import type { State } from './definition.ts';
import type { DistributedMap } from './map-run.ts';

/** One stay in a state, retries included. */
export interface Visit {
  state: State;
  branch: Branch;
  /** Epoch milliseconds. */
  enteredAt: number;
}

/** Something that happened in a run. */
export type RunEvent = { visit: Visit } & (
  | { type: 'StateEntered'; input: unknown }
  | { type: 'StateExited'; output: unknown }
  /** After the pause, which took so many seconds. */
  | { type: 'StateRetried'; error: string; seconds: number }
  /** A Map begins with its items; `length` is their number. */
  | { type: 'StateStarted'; length: number }
  | { type: 'StateSucceeded' | 'StateFailed' }
  | { type: 'MapIterationStarted' | 'MapIterationSucceeded' | 'MapIterationFailed'; branch: Branch }
  | { type: 'MapRunStarted'; map: DistributedMap }
  | { type: 'MapRunSucceeded' }
  | { type: 'MapRunFailed'; error: string; cause: string }
  | { type: 'TaskScheduled'; parameters: unknown; timeoutSeconds: number | undefined }
  /** The call was answered; the task continues until its token is returned. */
  | { type: 'TaskSubmitted' | 'TaskSucceeded'; output: unknown }
  | { type: 'TaskFailed'; error: string; cause: string }
  | { type: 'TaskTimedOut' }
);
