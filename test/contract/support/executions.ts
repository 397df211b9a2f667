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

/** The execution of a request, once it has ended: a way to wait for a request without reading it. */
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

/** Undefined before it was started: a creation that could not do so itself leaves that to the reconciler. */
const statusOf = async (client: SFNClient, executionArn: string): Promise<string | undefined> => {
  try {
    return (await client.send(new DescribeExecutionCommand({ executionArn }))).status;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
};
