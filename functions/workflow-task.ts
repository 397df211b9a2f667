import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import * as z from 'zod/mini';
import { RateLimitedError } from '../core/errors.ts';
import { logger } from '../core/observability.ts';

/** What every task of the workflow is given: ids, never content. */
export const TaskInput = z.object({ requestId: z.string() });

/**
 * Something that the step needs was too busy or out of reach, and had been asked more than once: the same step
 * may well work a little later. The state machine tries it again by this name.
 */
export class TransientError extends Error {
  override name = 'TransientError';
}

/** Errors of AWS come under many names; what they have in common is known to the SDK. */
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
 * The Lambda handler of a workflow task: parses its input, logs by request id. Errors escape to the state machine,
 * which routes them by name; those that time heals as `TransientError`.
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
