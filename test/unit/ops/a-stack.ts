import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { afterEach, beforeEach } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';

/** CloudFormation for the tests of a file, whose commands set variables of the environment: those go after each test. */
export const describeStacks = () => {
  const shell = { ...process.env };
  const client = mockClient(CloudFormationClient);
  beforeEach(() => {
    client.reset();
  });
  afterEach(() => {
    process.env = { ...shell };
  });
  return {
    /** Has one stack, with these outputs. */
    stackWith(StackName: string, outputs: Record<string, string>): void {
      const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
      const stack = { StackName, CreationTime: new Date(), StackStatus: 'CREATE_COMPLETE' as const, Outputs };
      client.on(DescribeStacksCommand, { StackName }).resolves({ Stacks: [stack] });
    },
    /** Refuses to describe any stack. */
    refuse(error: string): void {
      client.on(DescribeStacksCommand).rejects(new Error(error));
    },
  };
};
