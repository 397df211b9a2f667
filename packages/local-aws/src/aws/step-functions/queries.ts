import { executionArn, type Place } from '../arn.ts';
import { AwsError } from '../errors.ts';
import { optionalText, takePage, takePageByName } from './requests.ts';
import type { LocalStateMachine } from './state-machine.ts';
import type { HistoryEvent } from './types.ts';

type Json = Record<string, unknown>;

/** An execution, found by its ARN. */
export interface FoundExecution {
  arn: string;
  machine: LocalStateMachine;
  name: string;
}

const INCLUDED = { included: true };

const readStored = ({ arn, machine, name }: FoundExecution) => {
  const stored = machine.store.read(name);
  if (!stored) throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  return stored;
};

/** DescribeExecution. */
export const describeExecution = (found: FoundExecution): Json => {
  const { input, startDate, outcome } = readStored(found);
  const { status = 'RUNNING', ...end } = outcome ?? {};
  return {
    executionArn: found.arn,
    stateMachineArn: found.machine.spec.arn,
    name: found.name,
    status,
    startDate,
    input,
    inputDetails: INCLUDED,
    ...end,
    ...(outcome?.output !== undefined && { outputDetails: INCLUDED }),
    redriveCount: 0,
    redriveStatus: 'NOT_REDRIVABLE',
    redriveStatusReason: 'The local run does not redrive executions',
  };
};

const DATA_FIELDS = new Set(['input', 'output', 'parameters', 'inputDetails', 'outputDetails']);

const withoutData = (event: HistoryEvent): Json =>
  Object.fromEntries(
    Object.entries(event).map(([field, value]) => [
      field,
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).filter(([name]) => !DATA_FIELDS.has(name)))
        : value,
    ]),
  );

/** GetExecutionHistory: oldest first. Throws `ValidationException` for `reverseOrder`. */
export const getExecutionHistory = (found: FoundExecution, body: Json): Json => {
  const { events } = readStored(found);
  if (body.reverseOrder === true)
    throw new AwsError('ValidationException', 'The local run does not reverse a history');
  const { page, nextToken } = takePage(body, events);
  return { events: body.includeExecutionData === false ? page.map(withoutData) : page, nextToken };
};

/** ListExecutions: newest first. */
export const listExecutions = (place: Place, machine: LocalStateMachine, body: Json): Json => {
  const status = optionalText(body, 'statusFilter');
  const { page, nextToken } = takePageByName(
    body,
    machine.store.list().toReversed(),
    (summary) => status === undefined || summary.status === status,
  );
  return {
    executions: page.map((summary) => ({
      ...summary,
      executionArn: executionArn(place, machine.spec.name, summary.name),
      stateMachineArn: machine.spec.arn,
    })),
    nextToken,
  };
};
