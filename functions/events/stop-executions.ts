import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import * as z from 'zod/mini';
import { clientOptions } from '../../core/aws-clients.ts';
import { requiredEnv } from '../../core/environment.ts';
import { stopRunningExecutions } from '../../core/executions/stop-executions.ts';
import { logger } from '../../core/observability.ts';
import { CustomResourceError, customResource } from '../cloudformation.ts';

/** The state machine whose executions are stopped. */
const Properties = z.object({ StateMachineArn: z.string().check(z.minLength(1)) });

/** Time kept to answer CloudFormation. */
const ANSWER_MS = 30_000;

const cloudFormation = new CloudFormationClient(clientOptions('stack'));

/** The statuses in which CloudFormation deletes all of a stack: at its deletion, and after its creation failed. */
const ENDING: readonly string[] = ['DELETE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS'];

/**
 * Whether CloudFormation is deleting the whole stack. False during an update, also while it rolls back or deletes what
 * the update removed. Throws `CustomResourceError` when the status cannot be read.
 */
const isStackEnding = async (stackId: string): Promise<boolean> => {
  try {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackId }));
    const status = Stacks[0]?.StackStatus;
    if (status === undefined) throw new Error('CloudFormation returned no status of the stack.');
    return ENDING.includes(status);
  } catch (error) {
    logger.error('the status of the stack could not be read', { error: error as Error });
    throw new CustomResourceError(
      'The status of the stack could not be read, so no execution was stopped. Delete the stack again, or first run: ops executions stop-all --yes',
    );
  }
};

/**
 * Custom resource that is deleted before a state machine. Stops the running executions of a state machine that is deleted with
 * the stack or replaced by another state machine. CloudFormation would otherwise wait for the executions' own ends.
 *
 * CloudFormation also sends `Delete` when a resource leaves the template or gets another logical id, and when an update that
 * added it rolls back. The state machine then stays, and its executions run on. Fails, having stopped nothing, when it
 * cannot know; and when its time does not suffice. The deletion can then be repeated.
 */
export const handler = customResource(async (event, context) => {
  const { StateMachineArn } = Properties.parse(event.ResourceProperties);
  if (event.RequestType !== 'Delete') return { physicalId: StateMachineArn };
  // CloudFormation updates or rolls back this function before it deletes the replaced resources.
  const isOurs = requiredEnv('STATE_MACHINE_ARNS').split(',').includes(StateMachineArn);
  if (isOurs && !(await isStackEnding(event.StackId))) {
    logger.info('executions left running', { stateMachineArn: StateMachineArn });
    return { physicalId: event.PhysicalResourceId };
  }
  const isTime = () => context.getRemainingTimeInMillis() > ANSWER_MS;
  const { stopped, areLeft } = await stopRunningExecutions(StateMachineArn, isTime);
  logger.info('executions stopped', { stateMachineArn: StateMachineArn, stopped, areLeft });
  if (areLeft) {
    throw new CustomResourceError(
      `${stopped} executions were stopped and others still run. Delete the stack again, or first run: ops executions stop-all --yes`,
    );
  }
  return { physicalId: event.PhysicalResourceId };
});
