import type { Context } from 'aws-lambda';
import { dispatchRequest } from '../../core/dispatch/dispatch-request.ts';
import { systemClock } from '../../core/time.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { TaskInput, workflowTask } from '../workflow-task.ts';

/** Makes the request's provider calls and returns the next step, within the function's remaining time. */
export const handler = (event: unknown, context: Context) => {
  const timeLeftMs = context.getRemainingTimeInMillis();
  const task = workflowTask(TaskInput, ({ requestId }) =>
    dispatchRequest(requestId, providerRouteOf, systemClock, timeLeftMs),
  );
  return task(event, context);
};
