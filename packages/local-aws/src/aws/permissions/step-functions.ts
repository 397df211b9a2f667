import type { Permission } from '../authorize.ts';

type Json = Record<string, unknown>;

const RESOURCE_FIELDS: Record<string, string> = {
  StartExecution: 'stateMachineArn',
  ListExecutions: 'stateMachineArn',
  DescribeExecution: 'executionArn',
  GetExecutionHistory: 'executionArn',
  StopExecution: 'executionArn',
};

/**
 * What a Step Functions call needs. `tokenMachineArn` is the state machine that the token of a SendTaskSuccess belongs to.
 */
export const stepFunctionsPermissions = (
  operation: string,
  body: Json,
  tokenMachineArn: string | undefined,
): Permission[] => {
  const action = `states:${operation}`;
  const resource = operation === 'SendTaskSuccess' ? tokenMachineArn : body[RESOURCE_FIELDS[operation] ?? ''];
  return [{ action, resource: typeof resource === 'string' ? resource : '*' }];
};
