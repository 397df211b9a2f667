import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { type EnvironmentName, requiredEnv } from '../environment.ts';
import { toInstant } from '../time.ts';
import { stepFunctions } from './step-functions.ts';

/** Starts an execution. A name that was used before starts nothing. */
const startOnce = async (machine: StateMachineVariable, name: string, input: object): Promise<void> => {
  const start = new StartExecutionCommand({
    stateMachineArn: requiredEnv(machine),
    name,
    input: JSON.stringify(input),
  });
  try {
    await stepFunctions.send(start);
  } catch (error) {
    // The execution has finished already; a running one with the same input is no error.
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
};

type StateMachineVariable = Extract<EnvironmentName, `${string}_STATE_MACHINE_ARN`>;

/**
 * Starts the execution that owns a request. It is named by the request, so a repeated start does nothing, and
 * its input is the id alone: the record is the truth.
 */
export const startWorkflow = (requestId: string): Promise<void> =>
  startOnce('GENERATION_STATE_MACHINE_ARN', requestId, { requestId });

/** Starts an execution that removes the files of expired requests from a cursor on. It is named by an instant, so once for each. */
export const startExpiry = (at: Date, cursor: unknown): Promise<void> =>
  startOnce('EXPIRY_STATE_MACHINE_ARN', toInstant(at).replace(/[:.]/g, '-'), { cursor });

/**
 * Starts the execution that delivers a terminal request's webhook; once, unless `suffix` names another
 * delivery that an operator asked for.
 */
export const startWebhookDelivery = (requestId: string, suffix = ''): Promise<void> =>
  startOnce('WEBHOOK_DELIVERY_STATE_MACHINE_ARN', requestId + suffix, { requestId });

/**
 * The status of the execution that owns a request; undefined when there never was one. Step Functions may not
 * describe an execution shortly after its start, or as running shortly after its end, so a `reportedEnd` goes before,
 * unless the execution was redriven since.
 */
export const findWorkflowStatus = async (
  requestId: string,
  reportedEnd?: ExecutionStatus,
): Promise<ExecutionStatus | undefined> => {
  const executionArn = executionArnOf(requiredEnv('GENERATION_STATE_MACHINE_ARN'), requestId);
  try {
    const { status, redriveCount = 0 } = await stepFunctions.send(
      new DescribeExecutionCommand({ executionArn }),
    );
    return redriveCount > 0 ? status : (reportedEnd ?? status);
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return reportedEnd;
    throw error;
  }
};

/** The ARN of a state machine's execution, by the execution's name. */
export const executionArnOf = (stateMachineArn: string, name: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
