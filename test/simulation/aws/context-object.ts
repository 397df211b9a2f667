import type { Execution } from './execution.ts';

/** What `$$` stands for in a definition. */
export const makeContext = (execution: Execution, state: string, token = '', retries = 0) => ({
  Execution: {
    Id: executionArn(execution.machine, execution.name),
    Name: execution.name,
    Input: JSON.parse(execution.input) as unknown,
    StartTime: new Date(execution.startedAt).toISOString(),
  },
  State: { Name: state, EnteredTime: new Date(execution.enteredAt).toISOString(), RetryCount: retries },
  StateMachine: { Id: machineArn(execution.machine), Name: execution.machine },
  Task: { Token: token },
});

const ARN = 'arn:aws:states:us-east-1:111122223333';

export const machineArn = (machine: string): string => `${ARN}:stateMachine:${machine}`;
export const executionArn = (machine: string, name: string): string => `${ARN}:execution:${machine}:${name}`;
