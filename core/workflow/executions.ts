import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  InvalidToken,
  paginateListExecutions,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { type EnvironmentName, requiredEnv } from '../environment.ts';
import type { Instant } from '../time.ts';
import type { NextStep } from './workflow-rules.ts';

const stepFunctions = new SFNClient({
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 5000 },
});

/** Starts an execution. Starting one of a name that was used starts nothing: that is what names are for. */
const startOnce = async (machine: StateMachineVariable, name: string, input: object): Promise<void> => {
  const start = new StartExecutionCommand({
    stateMachineArn: requiredEnv(machine),
    name,
    input: JSON.stringify(input),
  });
  try {
    await stepFunctions.send(start);
  } catch (error) {
    // A repeated start finds an execution that has ended meanwhile: it was started, which is all that is wanted.
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
};

type StateMachineVariable = Extract<EnvironmentName, `${string}_STATE_MACHINE_ARN`>;

/**
 * Starts the execution that owns a request from now on. It is named by the request, so starting it twice
 * starts it once, and it carries the id alone: the record is the truth.
 */
export const startWorkflow = (requestId: string): Promise<void> =>
  startOnce('GENERATION_STATE_MACHINE_ARN', requestId, { requestId });

/** Starts the execution that sees to a request's expiry; once, unless `again` names another one in place of a lost one. */
export const startExpiry = (requestId: string, expiresAt: Instant, again = ''): Promise<void> =>
  startOnce('EXPIRY_STATE_MACHINE_ARN', requestId + again, { requestId, expiresAt });

/**
 * Starts the execution that tells a request's end to its webhook; once, unless `again` names another one, for
 * an operator who sends it again.
 */
export const startWebhookDelivery = (requestId: string, again = ''): Promise<void> =>
  startOnce('WEBHOOK_DELIVERY_STATE_MACHINE_ARN', requestId + again, { requestId });

/** What is known of an execution: its status, or undefined when there never was one of this name. */
export const findWorkflowStatus = async (requestId: string): Promise<ExecutionStatus | undefined> => {
  const executionArn = executionArnOf(requiredEnv('GENERATION_STATE_MACHINE_ARN'), requestId);
  try {
    return (await stepFunctions.send(new DescribeExecutionCommand({ executionArn }))).status;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
};

/** The ARN of a state machine's execution. */
export const executionArnOf = (stateMachineArn: string, name: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;

/** The names of all executions of requests that run, 1,000 a call. New ones may be missing for a moment. */
export const listRunningWorkflows = async (): Promise<Set<string>> => {
  const names = new Set<string>();
  const pages = paginateListExecutions(
    { client: stepFunctions, pageSize: 1000 },
    { stateMachineArn: requiredEnv('GENERATION_STATE_MACHINE_ARN'), statusFilter: 'RUNNING' },
  );
  for await (const { executions = [] } of pages) {
    for (const { name } of executions) if (name !== undefined) names.add(name);
  }
  return names;
};

/**
 * Wakes the execution that waits under a token and tells it what to do next. False when nobody waits under it
 * any more: the execution went on by itself, and looks for itself.
 */
export const wakeExecution = (taskToken: string, step: NextStep): Promise<boolean> =>
  unlessGone(() =>
    // The output becomes the state's result: as a step's function would have given it.
    stepFunctions.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify({ result: step }) })),
  );

/** Tells the execution that waits under a token that the provider was just asked: it need not ask for now. */
export const keepExecutionWaiting = (taskToken: string): Promise<boolean> =>
  unlessGone(() => stepFunctions.send(new SendTaskHeartbeatCommand({ taskToken })));

const unlessGone = async (send: () => Promise<unknown>): Promise<boolean> => {
  try {
    await send();
    return true;
  } catch (error) {
    const gone =
      error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken;
    if (gone) return false;
    throw error;
  }
};
