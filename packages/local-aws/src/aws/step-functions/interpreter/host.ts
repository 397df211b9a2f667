import type { Callbacks } from './callbacks.ts';
import type { Clock } from './clock.ts';
import type { RunEvent } from './events.ts';
import type { DistributedMap, ItemExecution } from './map-run.ts';

/** The surroundings of a run: its time, its chance, and the services of its tasks. */
export interface Host {
  clock: Clock;
  /** A fraction from 0 to below 1, for jitter. */
  random(): number;
  /** `$$.Execution` and `$$.StateMachine`. */
  context: Readonly<Record<string, unknown>>;
  callbacks: Callbacks;
  /** A new task token. */
  makeToken(): string;
  /** Makes the call of a task. Every error is that of the task. */
  call(parameters: unknown): Promise<unknown>;
  /** Receives every event as it happens. */
  observe(event: RunEvent): void;
  /**
   * Begins the run of a distributed Map: the returned function starts the execution of an item. Throws the task's error. Without it,
   * the items are run within the execution.
   */
  beginMapRun?(map: DistributedMap): (input: string) => ItemExecution;
}

/** A run of a definition. */
export interface Running {
  /** Its output. Rejects with `TaskError` when a state fails; never settles once the run was stopped. */
  result: Promise<unknown>;
  /** Ends it: no further state begins, and calls that are under way change nothing. */
  stop(): void;
}
