import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  paginateGetExecutionHistory,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { requiredEnv } from '../core/environment.ts';
import { executionArnOf, stepFunctions } from '../core/executions/executions.ts';
import { type Instant, toInstant } from '../core/time.ts';

/** The state machines that run for a request, each with the variable that holds its ARN. */
const MACHINES = {
  generation: 'GENERATION_STATE_MACHINE_ARN',
  'webhook-delivery': 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN',
} as const;
export type WorkflowName = keyof typeof MACHINES;

/** An execution's status and the states it entered. */
export interface ExecutionHistory {
  workflow: WorkflowName;
  name: string;
  status: ExecutionStatus;
  startedAt: Instant;
  stoppedAt: Instant | null;
  /** Null when it succeeded or gave no reason. */
  error: string | null;
  cause: string | null;
  /** In time order. */
  states: { state: string; enteredAt: Instant }[];
}

const unlessAbsent = async <T>(send: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
};

/** An execution's history; undefined when it never existed or, after 90 days, Step Functions has dropped it. */
export const findExecutionHistory = (
  workflow: WorkflowName,
  name: string,
): Promise<ExecutionHistory | undefined> =>
  unlessAbsent(async () => {
    const executionArn = executionArnOf(requiredEnv(MACHINES[workflow]), name);
    const { status, startDate, stopDate, error, cause } = await stepFunctions.send(
      new DescribeExecutionCommand({ executionArn }),
    );
    if (!status || !startDate) throw new Error(`Execution ${executionArn} has no status.`);
    return {
      workflow,
      name,
      status,
      startedAt: toInstant(startDate),
      stoppedAt: stopDate ? toInstant(stopDate) : null,
      error: error ?? null,
      cause: cause ?? null,
      states: await listStates(executionArn),
    };
  });

const listStates = async (executionArn: string): Promise<ExecutionHistory['states']> => {
  const states: ExecutionHistory['states'] = [];
  const pages = paginateGetExecutionHistory(
    { client: stepFunctions, pageSize: 1000 },
    { executionArn, includeExecutionData: false },
  );
  for await (const { events = [] } of pages) {
    for (const { timestamp, stateEnteredEventDetails: entered } of events) {
      if (entered?.name && timestamp) states.push({ state: entered.name, enteredAt: toInstant(timestamp) });
    }
  }
  return states;
};

/** Stops the execution that owns a request. Does nothing when it has finished or never existed. */
export const stopWorkflow = async (requestId: string, cause: string): Promise<void> => {
  const executionArn = executionArnOf(requiredEnv(MACHINES.generation), requestId);
  await unlessAbsent(() =>
    stepFunctions.send(new StopExecutionCommand({ executionArn, error: 'EndedByOperator', cause })),
  );
};
