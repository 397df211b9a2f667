import { setTimeout as pause } from 'node:timers/promises';
import {
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  StateMachineDoesNotExist,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { inParallel } from '../concurrency/in-parallel.ts';
import { isTransient } from '../transient-errors.ts';
import { stepFunctions } from './executions.ts';

/** Executions stopped at once. Step Functions takes 25 a second in small regions, after a burst of 500. */
const PARALLEL = 10;
/** A page of the list; its order is newest first. */
const PAGE_SIZE = 1000;
/** Stopped executions are still listed for a moment. */
const LISTING_PAUSE_MS = 1_000;

/** The error in the history of a stopped execution. */
const STOP = {
  error: 'StoppedByOperator',
  cause: 'All executions were stopped, by hand or because the stack was deleted.',
};

/** The result of stopping all executions. */
export interface StopReport {
  stopped: number;
  /** Whether some still ran when its time was up. */
  areLeft: boolean;
}

/**
 * Stops every running execution of a state machine, also those started during the stop, until none is listed
 * or `isTime` says no. A state machine that does not exist has none. A throttled stop is made again.
 */
export const stopRunningExecutions = async (
  stateMachineArn: string,
  isTime: () => boolean,
): Promise<StopReport> => {
  const stopped = new Set<string>();
  while (isTime()) {
    const running = await listRunning(stateMachineArn);
    if (running.length === 0) return { stopped: stopped.size, areLeft: false };
    await inParallel(running, PARALLEL, async (arn) => {
      if (isTime() && (await stop(arn))) stopped.add(arn);
    });
    await pause(LISTING_PAUSE_MS);
  }
  return { stopped: stopped.size, areLeft: await runsAny(stateMachineArn) };
};

/** Waits until a state machine runs nothing, at most `seconds`. */
export const waitForExecutions = async (stateMachineArn: string, seconds: number): Promise<void> => {
  for (let waited = 0; waited < seconds; waited++) {
    if (!(await runsAny(stateMachineArn))) return;
    await pause(1_000);
  }
};

/** Whether a state machine runs an execution. */
export const runsAny = async (stateMachineArn: string): Promise<boolean> =>
  (await listRunning(stateMachineArn)).length > 0;

const listRunning = async (stateMachineArn: string): Promise<string[]> => {
  try {
    const { executions = [] } = await stepFunctions.send(
      new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING', maxResults: PAGE_SIZE }),
    );
    return executions.flatMap(({ executionArn }) => executionArn ?? []);
  } catch (error) {
    if (error instanceof StateMachineDoesNotExist) return [];
    throw error;
  }
};

/** Whether the execution does not run any more. False: it is stopped again when it is listed again. */
const stop = async (executionArn: string): Promise<boolean> => {
  try {
    await stepFunctions.send(new StopExecutionCommand({ executionArn, ...STOP }));
    return true;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return true;
    if (isTransient(error)) return false;
    throw error;
  }
};
