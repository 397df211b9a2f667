import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { logger } from '../core/observability.ts';

const fail = (): never => {
  throw new Error('The function ran out of time.');
};

/**
 * Makes the Lambda handler of an event that is no HTTP request. A run that is not done 1 s before the function's time limit ends with
 * what `outOfTime` returns or throws; by default it fails.
 */
export const eventHandler = <Result>(
  run: (event: unknown, context: Context) => Promise<Result>,
  outOfTime: () => Result = fail,
) =>
  middy<unknown, Result>(endsEarly(1_000, outOfTime))
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .handler(run);

/**
 * Ends a function `marginMs` before its time limit, by an error log and then by what `atEnd` returns or throws.
 * Lambda would kill it without either, and middy's own error has a name that no state machine retries.
 */
export const endsEarly = <Result>(marginMs: number, atEnd: () => Result): middy.PluginObject => ({
  timeoutEarlyInMillis: marginMs,
  timeoutEarlyResponse: () => {
    logger.error('the function ran out of time');
    return atEnd();
  },
});
