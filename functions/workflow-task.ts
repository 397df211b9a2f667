import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import * as z from 'zod/mini';
import { RateLimitedError } from '../core/errors.ts';
import { logger } from '../core/observability.ts';

/** The input common to all tasks: an id, never content. The record in the table is the truth. */
export const TaskInput = z.object({ requestId: z.string() });

/**
 * An AWS service stayed throttled or unreachable through the SDK's own retries. Repeating the step later may
 * succeed: the state machine retries it by this name.
 */
export class TransientError extends Error {
  override name = 'TransientError';
}

/** Whether repeating the step may help. AWS errors have many names, so the SDK's own classification decides. */
const isTransient = (error: unknown): error is Error => {
  if (!(error instanceof Error)) return false;
  const sdkError = error as Parameters<typeof isServerError>[0];
  return (
    error instanceof RateLimitedError ||
    isTransientError(sdkError) ||
    isThrottlingError(sdkError) ||
    isServerError(sdkError)
  );
};

/**
 * Makes the Lambda handler of a state machine's task. It parses the task's input, adds the request id to every log
 * line and returns `run`'s result to the state machine.
 *
 * Errors are not caught here: the state machine retries or catches them by name (`Retry` and `Catch` in
 * `statemachines/`). Transient AWS errors all reach it under one name, `TransientError`.
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
      try {
        return await run(input);
      } catch (error) {
        if (isTransient(error)) throw new TransientError(`${error.name}: ${error.message}`, { cause: error });
        throw error;
      }
    });
