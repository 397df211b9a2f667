import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { logger } from '../core/observability.ts';

/** What every task of the workflow is given: ids, never content. */
export const TaskInput = z.object({ requestId: z.string() });

/**
 * The Lambda handler of a workflow task: parses its input, logs by request id. Errors escape to the state machine,
 * which routes them by name.
 */
export const workflowTask = <Schema extends z.ZodMiniType<{ requestId: string }>, Result>(
  schema: Schema,
  run: (input: z.infer<Schema>) => Promise<Result>,
) =>
  middy<unknown, Result>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .handler(async (event) => {
      const input = schema.parse(event);
      logger.appendKeys({ requestId: input.requestId });
      return run(input);
    });
