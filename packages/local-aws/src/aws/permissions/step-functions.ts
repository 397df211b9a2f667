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
 * What a Step Functions call needs. `tokenMachineArn` is the state machine that the token of a SendTask* call belongs to; undefined when
 * the token is malformed: then nothing is needed, and the call fails on its token.
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
