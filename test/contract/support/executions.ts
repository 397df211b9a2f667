import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import { withStepFunctions } from './aws.ts';
import { eventually } from './client.ts';
import type { LocalService } from './local-service.ts';

/** How the execution of a request ended, and the states it entered on the way. */
export interface EndedExecution {
  status: string;
  states: string[];
}

/** Waits for the execution of a request to end. Unlike a read, it triggers nothing. */
export const endedExecution = (service: LocalService, requestId: string): Promise<EndedExecution> =>
  withStepFunctions(service, async (client) => {
    const { generation } = service.stateMachines;
    const executionArn = `${generation.replace(':stateMachine:', ':execution:')}:${requestId}`;
    const status = await eventually(
      () => statusOf(client, executionArn),
      (each) => each !== undefined && each !== 'RUNNING',
    );
    const states: string[] = [];
    for await (const { events = [] } of paginateGetExecutionHistory({ client }, { executionArn })) {
      states.push(...events.flatMap(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? []));
    }
    return { status: status ?? '', states };
  });

/** Undefined before the start: the reconciler starts what a creation could not. */
const statusOf = async (client: SFNClient, executionArn: string): Promise<string | undefined> => {
  try {
    return (await client.send(new DescribeExecutionCommand({ executionArn }))).status;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
};
