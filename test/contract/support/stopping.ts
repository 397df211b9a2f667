import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  paginateListExecutions,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { withStepFunctions } from './aws.ts';
import type { LocalService } from './local-service.ts';

/** A state machine of a local run. */
export type Machine = keyof LocalService['stateMachines'];

const arnOf = (service: LocalService, machine: Machine, name: string): string =>
  `${service.stateMachines[machine].replace(':stateMachine:', ':execution:')}:${name}`;

/** The status of an execution; undefined when none has this name. */
export const executionStatus = (
  service: LocalService,
  machine: Machine,
  name: string,
): Promise<string | undefined> =>
  withStepFunctions(service, async (client) => {
    try {
      const executionArn = arnOf(service, machine, name);
      return (await client.send(new DescribeExecutionCommand({ executionArn }))).status;
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return undefined;
      throw error;
    }
  });

/** Every event of an execution so far. */
export const executionEvents = (
  service: LocalService,
  machine: Machine,
  name: string,
): Promise<HistoryEvent[]> =>
  withStepFunctions(service, async (client) => {
    const executionArn = arnOf(service, machine, name);
    const all: HistoryEvent[] = [];
    for await (const { events = [] } of paginateGetExecutionHistory({ client }, { executionArn })) {
      all.push(...events);
    }
    return all;
  });

/** The names of the states that were entered, in order. */
export const statesIn = (events: readonly HistoryEvent[]): string[] =>
  events.flatMap(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? []);

/** The state an execution entered last. */
export const currentState = async (
  service: LocalService,
  machine: Machine,
  name: string,
): Promise<string | undefined> => statesIn(await executionEvents(service, machine, name)).at(-1);

/** Stops an execution, as anyone can in the console. */
export const stopExecution = (service: LocalService, machine: Machine, name: string): Promise<unknown> =>
  withStepFunctions(service, (client) =>
    client.send(new StopExecutionCommand({ executionArn: arnOf(service, machine, name) })),
  );

/** The names and statuses of all executions whose names start with `start`, sorted by name. */
export const executionsNamed = (
  service: LocalService,
  machine: Machine,
  start: string,
): Promise<{ name: string; status: string }[]> =>
  withStepFunctions(service, async (client) => {
    const pages = paginateListExecutions({ client }, { stateMachineArn: service.stateMachines[machine] });
    const found: { name: string; status: string }[] = [];
    for await (const { executions = [] } of pages) {
      for (const { name = '', status = '' } of executions) {
        if (name.startsWith(start)) found.push({ name, status });
      }
    }
    return found.sort((one, other) => (one.name < other.name ? -1 : 1));
  });
