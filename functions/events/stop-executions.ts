import * as z from 'zod/mini';
import { stopRunningExecutions } from '../../core/executions/stop-executions.ts';
import { logger } from '../../core/observability.ts';
import { CustomResourceError, customResource } from '../cloudformation.ts';

/** The state machine that CloudFormation deletes next. */
const Properties = z.object({ StateMachineArn: z.string().check(z.minLength(1)) });

/** Time kept to answer CloudFormation. */
const ANSWER_MS = 30_000;

/**
 * Custom resource that is deleted before a state machine, and stops what it still runs: CloudFormation otherwise waits
 * for the executions' own ends. A replaced state machine replaces this resource, so its executions are stopped too.
 * Fails when its time does not suffice; the deletion can then be repeated.
 */
export const handler = customResource(async (event, context) => {
  const { StateMachineArn } = Properties.parse(event.ResourceProperties);
  if (event.RequestType !== 'Delete') return { physicalId: StateMachineArn };
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
