import type { Permission } from '../authorize.ts';

type Json = Record<string, unknown>;

const RESOURCE_FIELDS: Record<string, string> = {
  StartExecution: 'stateMachineArn',
  ListExecutions: 'stateMachineArn',
  DescribeStateMachine: 'stateMachineArn',
  DescribeExecution: 'executionArn',
  GetExecutionHistory: 'executionArn',
  StopExecution: 'executionArn',
};

/**
 * What a Step Functions call needs. `tokenMachineArn` is the ARN of the state machine that a SendTask* call's token belongs to;
 * without it (the token is malformed) the call needs nothing and is refused as an invalid token.
 */
export const stepFunctionsPermissions = (
  operation: string,
  body: Json,
  tokenMachineArn: string | undefined,
): Permission[] => {
  const action = `states:${operation}`;
  if (operation.startsWith('SendTask')) return tokenMachineArn ? [{ action, resource: tokenMachineArn }] : [];
  const resource = body[RESOURCE_FIELDS[operation] ?? ''];
  return [{ action, resource: typeof resource === 'string' ? resource : '*' }];
};
