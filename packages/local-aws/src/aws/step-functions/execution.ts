import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { messageOf } from '../errors.ts';
import type { ExecutionStore } from './execution-store.ts';
import { createHistory, type History, MAX_HISTORY_EVENTS } from './history.ts';
import type { CallIntegration } from './integrations.ts';
import type { Callbacks } from './interpreter/callbacks.ts';
import type { Clock } from './interpreter/clock.ts';
import type { Definition } from './interpreter/definition.ts';
import { checkDataSize, TaskError } from './interpreter/errors.ts';
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

/** The execution of `runExecution`. */
class Execution implements RunningExecution {
  private readonly environment: ExecutionEnvironment;
  readonly arn: string;
  readonly name: string;
  readonly input: string;
  readonly startDate: number;
  private readonly onEnd: (outcome: Outcome) => void;
  private running: Running | undefined;
  private outcome: Outcome | undefined;
  private isLeft = false;
  private readonly history: History;
  private readonly cancelTimeout: () => void;

  constructor(environment: ExecutionEnvironment, start: ExecutionStart, onEnd: (outcome: Outcome) => void) {
    const { clock, definition, region, stateMachine } = environment;
    this.environment = environment;
    this.arn = start.arn;
    this.name = start.name;
    this.input = start.input;
    this.startDate = start.startDate;
    this.onEnd = onEnd;
    this.history = createHistory({ region, stateMachineArn: stateMachine.arn }, (event) => {
      this.environment.store.append(this.name, event);
      if (event.id === MAX_HISTORY_EVENTS) {
        const cause = `The execution reached the maximum number of history events (${MAX_HISTORY_EVENTS}).`;
        this.end('FAILED', { error: 'States.Runtime', cause });
      }
    });
    this.cancelTimeout =
      definition.timeoutSeconds === undefined
        ? () => undefined
        : clock.after(definition.timeoutSeconds * 1_000, () =>
            this.end('TIMED_OUT', { error: 'States.Timeout' }),
          );
    this.history.append(
      'ExecutionStarted',
      { input: this.input, inputDetails: INCLUDED, roleArn: stateMachine.roleArn },
      this.startDate,
    );
    // The caller hears of the start before the first state begins.
    queueMicrotask(this.run);
  }

  stop(status: EndStatus, error?: string, cause?: string): Outcome {
    return this.end(status, { ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) });
  }

  leave(): void {
    this.isLeft = true;
    this.cancelTimeout();
    this.running?.stop();
  }

  private end(status: EndStatus, result: { output?: string; error?: string; cause?: string }): Outcome {
    if (this.outcome) return this.outcome;
    this.outcome = { status, stopDate: nowSeconds(), ...result };
    this.cancelTimeout();
    const details = result.output === undefined ? result : { ...result, outputDetails: INCLUDED };
    this.history.append(END_EVENTS[status], details);
    this.environment.store.end(this.name, this.outcome);
    this.running?.stop();
    this.onEnd(this.outcome);
    return this.outcome;
  }

  private readonly fail = (thrown: unknown) => {
    if (!(thrown instanceof TaskError)) console.error(`[aws] execution ${this.arn}:`, thrown);
    const error = thrown instanceof TaskError ? thrown.name : 'States.Runtime';
    this.end('FAILED', { error, cause: messageOf(thrown) });
  };

  private readonly succeed = (output: unknown) => {
    checkDataSize(output, this.name);
    this.end('SUCCEEDED', { output: JSON.stringify(output ?? null) });
  };

  /** With the permission that Step Functions needs to start the executions of a distributed Map. */
  private readonly beginMapRun = ({ label }: { label: string }) => {
    const permission = { action: 'states:StartExecution', resource: this.environment.stateMachine.arn };
    const refused = findRefusal(this.environment.principal, [permission]);
    if (refused) throw new TaskError('StepFunctions.AccessDeniedException', refused);
    return (input: string) => this.environment.startItem(label, input);
  };

  private readonly run = () => {
    if (this.outcome || this.isLeft) return;
    const { definition, stateMachine, principal, clock, callbacks, call } = this.environment;
    const input: unknown = JSON.parse(this.input);
    this.running = runDefinition(definition, input, {
      clock,
      random: Math.random,
      callbacks,
      context: {
        Execution: {
          Id: this.arn,
          Input: input,
          Name: this.name,
          RoleArn: stateMachine.roleArn,
          StartTime: new Date(this.startDate * 1_000).toISOString(),
          RedriveCount: 0,
        },
        StateMachine: { Id: stateMachine.arn, Name: stateMachine.name },
      },
      makeToken: () => createToken({ machineName: stateMachine.name, executionName: this.name }),
      call: (parameters) => call(principal, parameters),
      observe: (event) => {
        if (!this.outcome && !this.isLeft) this.history.record(event);
      },
      beginMapRun: this.beginMapRun,
    });
    this.running.result.then(this.succeed).catch(this.fail);
    // The first events may have reached the limit.
    if (this.outcome) this.running.stop();
  };
}

/**
 * Runs an execution, whose start is already stored, from its first state. Stores its events and its end. Calls `onEnd` once, at the end.
 * Never throws.
 */
export const runExecution = (
  environment: ExecutionEnvironment,
  start: ExecutionStart,
  onEnd: (outcome: Outcome) => void,
): RunningExecution => new Execution(environment, start, onEnd);
