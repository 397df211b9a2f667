import { eventually } from './client.ts';
import type { LocalService } from './local-service.ts';
import { executionEvents, executionStatus, type Machine, statesIn } from './stopping.ts';

/** How an execution ended, the states it entered on the way, and its whole history as text. */
export interface EndedExecution {
  status: string;
  states: string[];
  text: string;
}

/** Waits for an execution to end, by default that of a request. Unlike a read, it triggers nothing. */
export const endedExecution = async (
  service: LocalService,
  name: string,
  machine: Machine = 'generation',
): Promise<EndedExecution> => {
  // Undefined before the start: the reconciler starts what a creation could not.
  const status = await eventually(
    () => executionStatus(service, machine, name),
    (each) => each !== undefined && each !== 'RUNNING',
  );
  const events = await executionEvents(service, machine, name);
  return { status: status ?? '', states: statesIn(events), text: JSON.stringify(events) };
};
