/** Faults in the calls to the AWS endpoint of a run in another process. */
export { armFault, disarmFaults, type FaultTarget, faultsLeft } from './aws/fault-control.ts';
export type { Fault, FaultEffect } from './aws/faults.ts';
