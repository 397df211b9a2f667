import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { logger } from '../core/observability.ts';
import { endsEarly } from './time-limit.ts';

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
