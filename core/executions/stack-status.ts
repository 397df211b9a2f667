import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { clientOptions } from '../aws-clients.ts';

const cloudFormation = new CloudFormationClient(clientOptions('stack'));

/** The statuses in which CloudFormation deletes all of a stack: at its deletion, and after its creation failed. */
const ENDING: readonly (string | undefined)[] = ['DELETE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS'];

/**
 * Whether CloudFormation is deleting the whole stack. False during an update, also while it rolls back or deletes what
 * the update removed. Rejects when the status cannot be read.
 */
export const isStackEnding = async (stackId: string): Promise<boolean> => {
  const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackId }));
  const status = Stacks[0]?.StackStatus;
  if (status === undefined) throw new Error('CloudFormation returned no status of the stack.');
  return ENDING.includes(status);
};
