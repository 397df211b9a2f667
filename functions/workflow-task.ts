import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { logger } from '../core/observability.ts';
import { isTransient } from '../core/transient-errors.ts';
import { endsEarly } from './time-limit.ts';

/** The input common to all tasks: an id, never content. The record in the table is the truth. */
export const TaskInput = z.object({ requestId: z.string() });

/**
 * An AWS service stayed throttled or unreachable through the SDK's own retries, or the function's time ran out.
 * Repeating the step later may succeed: the state machine retries it by this name.
 */
export class TransientError extends Error {
  override name = 'TransientError';
}

/**
 * Makes the Lambda handler of a state machine's task. It parses the task's input, adds the request id, if it has one,
 * to every log line and returns `run`'s result to the state machine.
 *
 * Errors are not caught here: the state machine retries or catches them by name (`Retry` and `Catch` in
 * `statemachines/`). Transient AWS errors all reach it under one name, `TransientError`, and so does a run that is
 * not done 1 s before the function's time limit.
 */
export const workflowTask = <Schema extends z.ZodMiniType<object>, Result>(
  schema: Schema,
  run: (input: z.infer<Schema>) => Promise<Result>,
) =>
  middy<unknown, Result>(
    endsEarly(1_000, () => {
      throw new TransientError('The function ran out of time.');
    }),
  )
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .handler(async (event) => {
      const input = schema.parse(event);
      if ('requestId' in input) logger.appendKeys({ requestId: input.requestId });
      try {
        return await run(input);
      } catch (error) {
        if (isTransient(error)) throw new TransientError(`${error.name}: ${error.message}`, { cause: error });
        throw error;
      }
    });
