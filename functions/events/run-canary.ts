import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { runCanary } from '../../core/canary.ts';
import { countMetric, logger, METRIC } from '../../core/observability.ts';
import { endsEarly } from '../time-limit.ts';

/** Makes one image through the public API and reports how that went. A run out of time has failed. */
export const handler = middy<unknown, void>(
  endsEarly(1_000, () => countMetric(METRIC.canarySucceeded, {}, 0)),
)
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(() => runCanary());
