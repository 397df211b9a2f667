import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  GetExecutionHistoryCommand,
} from '@aws-sdk/client-sfn';
import { atSeconds } from '../builders/clocks.ts';
import { REQUEST_ID } from '../builders/entities.ts';
import type { MemoryExecutions } from '../fakes/memory-executions.ts';

/** Execution name of a webhook delivery that an operator started. */
export const AGAIN = `${REQUEST_ID}-again`;

/** Each execution's status and states (with the second of entry), by name. */
const HISTORIES: Record<
  string,
  { status: string; stopped?: number; error?: string; states: [string, number][] }
> = {
  [`generation:${REQUEST_ID}`]: {
    status: 'SUCCEEDED',
    stopped: 11,
    states: [
      ['Dispatch request', 1],
      ['Store outputs', 5],
      ['Settle request', 9],
    ],
  },
  [`webhook-delivery:${AGAIN}`]: {
    status: 'FAILED',
    stopped: 30,
    error: 'Gone',
    states: [['Deliver webhook', 20]],
  },
};

/** Serves the executions of a succeeded request, with one history event per page. */
export const serveHistories = (executions: MemoryExecutions): void => {
  const historyOf = (executionArn: string) => {
    const history = HISTORIES[executionArn.split(':').slice(-2).join(':')];
    if (!history) throw new ExecutionDoesNotExist({ message: executionArn, $metadata: {} });
    return history;
  };
  executions.client.on(DescribeExecutionCommand).callsFake(async ({ executionArn }) => {
    const { status, stopped, error, states } = historyOf(executionArn);
    const startDate = atSeconds(states[0]?.[1] ?? 0);
    return { status, startDate, error, ...(stopped === undefined ? {} : { stopDate: atSeconds(stopped) }) };
  });
  executions.client.on(GetExecutionHistoryCommand).callsFake(async ({ executionArn, nextToken }) => {
    const { states } = historyOf(executionArn);
    const events = states.flatMap(([name, second]) => [
      { type: 'TaskStateEntered', timestamp: atSeconds(second), stateEnteredEventDetails: { name } },
      { type: 'TaskSucceeded', timestamp: atSeconds(second) },
    ]);
    const page = Number(nextToken ?? 0);
    return {
      events: events.slice(page, page + 1),
      ...(page + 1 < events.length && { nextToken: String(page + 1) }),
    };
  });
};
