import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { messageOf } from '../errors.ts';
import type { ExecutionStore } from './execution-store.ts';
import { createHistory, MAX_HISTORY_EVENTS } from './history.ts';
import type { CallIntegration } from './integrations.ts';
import type { Callbacks } from './interpreter/callbacks.ts';
import type { Clock } from './interpreter/clock.ts';
import type { Definition } from './interpreter/definition.ts';
import { checkSize, TaskError } from './interpreter/errors.ts';
import type { Running } from './interpreter/host.ts';
import type { ItemExecution } from './interpreter/map-run.ts';
import { runDefinition } from './interpreter/run.ts';
import { createToken } from './task-tokens.ts';
import { type EndStatus, nowSeconds, type Outcome } from './types.ts';

/** The state machine of an execution, and the services of its tasks. */
export interface ExecutionEnvironment {
  definition: Definition;
  stateMachine: { arn: string; name: string; roleArn: string };
  principal: Principal;
  region: string;
  store: ExecutionStore;
  call: CallIntegration;
  clock: Clock;
  callbacks: Callbacks;
  /** Starts the execution of an item of a distributed Map. */
  startItem(label: string, input: string): ItemExecution;
}

/** The start of an execution. `input` is JSON text; `startDate` is in epoch seconds. */
export interface ExecutionStart {
  arn: string;
  name: string;
  input: string;
  startDate: number;
}

/** A running execution. */
export interface RunningExecution extends ExecutionStart {
  /** Ends it; no further state begins. */
  stop(status: EndStatus, error?: string, cause?: string): Outcome;
  /** Abandons it without an end; the next process starts it again. */
  leave(): void;
}

const INCLUDED = { truncated: false };

const END_EVENTS: Record<EndStatus, string> = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  TIMED_OUT: 'ExecutionTimedOut',
  ABORTED: 'ExecutionAborted',
};

/**
 * Runs an execution, whose start is already stored, from its first state. Stores its events and its end. Calls `onEnd` once, at the end.
 * Never throws.
 */
export const runExecution = (
  environment: ExecutionEnvironment,
  start: ExecutionStart,
  onEnd: (outcome: Outcome) => void,
): RunningExecution => {
  const { definition, stateMachine, principal, store, clock } = environment;
  let running: Running | undefined;
  let outcome: Outcome | undefined;
  let isLeft = false;

  const history = createHistory(
    { region: environment.region, stateMachineArn: stateMachine.arn },
    (event) => {
      store.append(start.name, event);
      if (event.id === MAX_HISTORY_EVENTS) {
        const cause = `The execution reached the maximum number of history events (${MAX_HISTORY_EVENTS}).`;
        stop('FAILED', { error: 'States.Runtime', cause });
      }
    },
  );

  const stop = (status: EndStatus, result: { output?: string; error?: string; cause?: string }): Outcome => {
    if (outcome) return outcome;
    outcome = { status, stopDate: nowSeconds(), ...result };
    cancelTimeout();
    const details = result.output === undefined ? result : { ...result, outputDetails: INCLUDED };
    history.append(END_EVENTS[status], details);
    store.end(start.name, outcome);
    running?.stop();
    onEnd(outcome);
    return outcome;
  };

  const fail = (thrown: unknown) => {
    if (!(thrown instanceof TaskError)) console.error(`[aws] execution ${start.arn}:`, thrown);
    const error = thrown instanceof TaskError ? thrown.name : 'States.Runtime';
    stop('FAILED', { error, cause: messageOf(thrown) });
  };

  const succeed = (output: unknown) => {
    checkSize(output, start.name);
    stop('SUCCEEDED', { output: JSON.stringify(output ?? null) });
  };

  /** With the permission that Step Functions needs to start the executions of a distributed Map. */
  const beginMapRun = ({ label }: { label: string }) => {
    const permission = { action: 'states:StartExecution', resource: stateMachine.arn };
    const refused = findRefusal(principal, [permission]);
    if (refused) throw new TaskError('StepFunctions.AccessDeniedException', refused);
    return (input: string) => environment.startItem(label, input);
  };

  const run = () => {
    if (outcome || isLeft) return;
    const input: unknown = JSON.parse(start.input);
    running = runDefinition(definition, input, {
      clock,
      random: Math.random,
      callbacks: environment.callbacks,
      context: {
        Execution: {
          Id: start.arn,
          Input: input,
          Name: start.name,
          RoleArn: stateMachine.roleArn,
          StartTime: new Date(start.startDate * 1_000).toISOString(),
          RedriveCount: 0,
        },
        StateMachine: { Id: stateMachine.arn, Name: stateMachine.name },
      },
      makeToken: () => createToken({ machineName: stateMachine.name, executionName: start.name }),
      call: (parameters) => environment.call(principal, parameters),
      observe: (event) => {
        if (!outcome && !isLeft) history.record(event);
      },
      beginMapRun,
    });
    running.result.then(succeed).catch(fail);
    // The first events may have reached the limit.
    if (outcome) running.stop();
  };

  const { timeoutSeconds } = definition;
  const cancelTimeout =
    timeoutSeconds === undefined
      ? () => undefined
      : clock.after(timeoutSeconds * 1_000, () => stop('TIMED_OUT', { error: 'States.Timeout' }));

  history.append(
    'ExecutionStarted',
    { input: start.input, inputDetails: INCLUDED, roleArn: stateMachine.roleArn },
    start.startDate,
  );
  // The caller hears of the start before the first state begins.
  queueMicrotask(run);

  return {
    ...start,
    stop: (status, error, cause) =>
      stop(status, { ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }),
    leave() {
      isLeft = true;
      cancelTimeout();
      running?.stop();
    },
  };
};
