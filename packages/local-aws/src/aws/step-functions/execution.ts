import type { StateMachine } from 'aws-local-stepfunctions';

import type { Principal } from '../../types.ts';
import { messageOf, nameOf } from '../errors.ts';
import type { PreparedDefinition } from './definition.ts';
import type { ExecutionStore } from './execution-store.ts';
import { createHistory, type InterpreterEvent, MAX_HISTORY_EVENTS } from './history.ts';
import type { CallIntegration } from './integrations.ts';
import type { ItemExecution } from './map-run.ts';
import { MAX_TIMER_SECONDS } from './prepare-state.ts';
import { createStateContexts } from './state-contexts.ts';
import { createTaskRunner } from './task-runner.ts';
import type { TaskTokens } from './task-tokens.ts';
import { type EndStatus, MAX_PAYLOAD_BYTES, nowSeconds, type Outcome } from './types.ts';

/** The state machine of an execution, and the services of its tasks. */
export interface ExecutionEnvironment {
  interpreter: StateMachine;
  prepared: PreparedDefinition;
  stateMachine: { arn: string; name: string; roleArn: string };
  principal: Principal;
  region: string;
  store: ExecutionStore;
  call: CallIntegration;
  tokens: TaskTokens;
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

/** The error and cause of a failed run. The interpreter wraps the state's error. */
const failureOf = (thrown: unknown): { error: string; cause: string } => {
  const inner = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return { error: nameOf(inner), cause: messageOf(inner) };
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
  const { interpreter, prepared, stateMachine, principal, region, store, call, tokens } = environment;
  const { states } = prepared;
  const controller = new AbortController();
  let outcome: Outcome | undefined;
  let isLeft = false;
  const isOver = () => outcome !== undefined || isLeft;

  const history = createHistory(states, (event) => {
    if (isLeft) return;
    store.append(start.name, event);
    if (event.id === MAX_HISTORY_EVENTS) {
      const cause = `The execution reached the maximum number of history events (${MAX_HISTORY_EVENTS}).`;
      stop('FAILED', { error: 'States.Runtime', cause });
    }
  });
  const contexts = createStateContexts(states, () =>
    tokens.create({ machineName: stateMachine.name, executionName: start.name }),
  );
  const tasks = createTaskRunner({
    states,
    contexts,
    history,
    principal,
    region,
    call,
    tokens,
    stateMachine,
    startItem: environment.startItem,
    signal: controller.signal,
  });

  const stop = (status: EndStatus, result: { output?: string; error?: string; cause?: string }): Outcome => {
    if (outcome) return outcome;
    outcome = { status, stopDate: nowSeconds(), ...result };
    clearTimeout(timeout);
    const details = result.output === undefined ? result : { ...result, outputDetails: INCLUDED };
    history.append(END_EVENTS[status], details);
    store.end(start.name, outcome);
    controller.abort();
    onEnd(outcome);
    return outcome;
  };

  const succeed = (output: unknown) => {
    const text = JSON.stringify(output ?? null);
    if (Buffer.byteLength(text) <= MAX_PAYLOAD_BYTES) stop('SUCCEEDED', { output: text });
    else stop('FAILED', { error: 'States.DataLimitExceeded', cause: 'The output exceeds 262144 bytes.' });
  };

  const record = (event: InterpreterEvent) => {
    history.recordInterpreterEvent(event);
    if (!('state' in event)) return;
    const { name } = event.state;
    const info = states.get(name);
    const isComposite = info?.type === 'Map' || info?.type === 'Parallel';
    if (event.type === 'StateCaught') {
      contexts.caught(name);
    } else if (event.type === 'StateFailed') {
      if (isComposite) tasks.abandon(name);
      else if (info?.resource && event.Error === 'States.Timeout') tasks.timeOut(name);
    } else if (isComposite && event.type !== 'StateExited') {
      tasks.enter(name);
    }
  };

  const run = async () => {
    const input = JSON.parse(start.input);
    const execution = interpreter.run(input, {
      noThrowOnAbort: true,
      overrides: { taskResourceLocalHandlers: tasks.handlers },
      context: {
        ...contexts.context,
        CurrentExecution: {
          Id: start.arn,
          Input: input,
          Name: start.name,
          RoleArn: stateMachine.roleArn,
          StartTime: new Date(start.startDate * 1_000).toISOString(),
          RedriveCount: 0,
        },
        StateMachine: { Id: stateMachine.arn, Name: stateMachine.name },
      },
    });
    controller.signal.addEventListener('abort', () => execution.abort(), { once: true });
    const result = execution.result.then(
      (output) => () => succeed(output),
      (thrown: unknown) => () => stop('FAILED', failureOf(thrown)),
    );
    for await (const event of execution.eventLogs) if (!isOver()) record(event);
    const end = await result;
    if (!isOver()) end();
  };

  const { timeoutSeconds } = prepared;
  const timeout =
    timeoutSeconds === undefined
      ? undefined
      : setTimeout(
          () => stop('TIMED_OUT', { error: 'States.Timeout' }),
          Math.min(timeoutSeconds, MAX_TIMER_SECONDS) * 1_000,
        );

  history.append(
    'ExecutionStarted',
    { input: start.input, inputDetails: INCLUDED, roleArn: stateMachine.roleArn },
    undefined,
    start.startDate,
  );
  run().catch((error: unknown) => {
    console.error(`[aws] execution ${start.arn}:`, error);
    if (!isOver()) stop('FAILED', { error: 'States.Runtime', cause: messageOf(error) });
  });

  return {
    ...start,
    stop: (status, error, cause) =>
      stop(status, { ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }),
    leave() {
      isLeft = true;
      clearTimeout(timeout);
      controller.abort();
    },
  };
};
