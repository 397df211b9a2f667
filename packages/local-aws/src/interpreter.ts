/** The interpreter of state machines, with its clock, randomness and calls handed in. */
export type { Branch } from './aws/step-functions/interpreter/branch.ts';
export { type Callback, Callbacks } from './aws/step-functions/interpreter/callbacks.ts';
export type { Clock } from './aws/step-functions/interpreter/clock.ts';
export { type Definition, readDefinition } from './aws/step-functions/interpreter/definition.ts';
export { TaskError } from './aws/step-functions/interpreter/errors.ts';
export type { RunEvent, Visit } from './aws/step-functions/interpreter/events.ts';
export type { Host, Running } from './aws/step-functions/interpreter/host.ts';
export { runDefinition } from './aws/step-functions/interpreter/run.ts';
