import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  InvalidToken,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { parseBalanceEventId } from '../ids.ts';
import { toInstant } from '../time.ts';
import type { FinalStep } from './step-rules.ts';

/** The Step Functions client. */
export const stepFunctions = new SFNClient(clientOptions('stepFunctions'));

/** Starts an execution. A name that was used before starts nothing. */
const startOnce = async (stateMachineArn: string, name: string, input: object): Promise<void> => {
  try {
    await stepFunctions.send(
      new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }),
    );
  } catch (error) {
    // The execution has finished already; a running one with the same input is no error.
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
};

/** The part of a request in its execution's input, for operators in the AWS console: nothing personal. The record is the truth. */
interface ShownRequest {
  requestId: string;
  model: string;
  accountId: string;
}

/** Starts the execution that owns a request. It is named by the request, so a repeated start does nothing. */
export const startWorkflow = ({ requestId, model, accountId }: ShownRequest): Promise<void> =>
  startOnce(requiredEnv('GENERATION_STATE_MACHINE_ARN'), requestId, { requestId, model, accountId });

/** Starts an execution that removes the files of expired requests from a cursor on. It is named by an instant, so once for each. */
export const startExpiry = (at: Date, cursor: unknown): Promise<void> =>
  startOnce(requiredEnv('EXPIRY_STATE_MACHINE_ARN'), toInstant(at).replace(/[:.]/g, '-'), { cursor });

/** The subject of a delivery, as its execution shows it: the end of a request, or a balance event. */
export interface DeliverySubject {
  /** The id of the request or event. */
  id: string;
  accountId: string;
  /** Of a request. */
  model?: string | undefined;
}

/** The next attempt of a delivery: its instant, and the number of earlier attempts. */
export interface NextAttempt {
  waitSeconds: number;
  attemptsMade: number;
}
const AT_ONCE: NextAttempt = { waitSeconds: 0, attemptsMade: 0 };

/**
 * Starts the execution that makes the attempts of a delivery from the `next` one on, by default from the first. The delivery is
 * named by its subject, with a `suffix` for a further delivery that an operator requested. Starting it again does nothing.
 */
export const startWebhookDelivery = (
  stateMachineArn: string,
  { id, accountId, model }: DeliverySubject,
  { suffix = '', next = AT_ONCE }: { suffix?: string; next?: NextAttempt } = {},
): Promise<void> =>
  startOnce(stateMachineArn, id + suffix, {
    requestId: parseBalanceEventId(id) ? null : id,
    ...(model !== undefined && { model }),
    accountId,
    step: { result: { next: 'wait', ...next } },
  });

/** The subject of a delivery by the execution's input and name: the id of a request or balance event. Throws for other names. */
export const subjectOfDelivery = (requestId: string | null, delivery: string): string => {
  const subject = requestId ?? parseBalanceEventId(delivery)?.eventId;
  if (subject === undefined) throw new Error(`The delivery ${delivery} names no balance event.`);
  return subject;
};

/**
 * The status of a request's execution; undefined for an execution that never started. Step Functions may not describe an
 * execution shortly after its start, or as running shortly after its end, so a `reportedEnd` goes before, unless the execution
 * was redriven since.
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

/** Ends the wait under a task token with the next step. False when the execution no longer waits under it. */
export const wakeExecution = (taskToken: string, step: FinalStep): Promise<boolean> =>
  // The same shape as the `ResultSelector` of the other steps gives.
  succeed(taskToken, { result: step });

/** Ends the wait for capacity under a task token: the request is dispatched again. False as for `wakeExecution`. */
export const admitToDispatch = (taskToken: string): Promise<boolean> => succeed(taskToken, {});

const succeed = async (taskToken: string, output: object): Promise<boolean> => {
  try {
    await stepFunctions.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }));
    return true;
  } catch (error) {
    const isGone =
      error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken;
    if (isGone) return false;
    throw error;
  }
};
