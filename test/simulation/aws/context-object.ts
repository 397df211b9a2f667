import type { Execution } from './execution.ts';

/** What `$$` stands for in every state of an execution. */
export const contextOf = ({ machine, name, input, startedAt }: Execution) => ({
  Execution: {
    Id: executionArn(machine, name),
    Name: name,
    Input: JSON.parse(input) as unknown,
    StartTime: new Date(startedAt).toISOString(),
  },
  StateMachine: { Id: machineArn(machine), Name: machine },
});

const ARN = 'arn:aws:states:us-east-1:111122223333';

export const machineArn = (machine: string): string => `${ARN}:stateMachine:${machine}`;
export const executionArn = (machine: string, name: string): string => `${ARN}:execution:${machine}:${name}`;
