import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { systemClock } from '../../core/clock.ts';
import { reconcileRequest } from '../../core/ending/end-lost-request.ts';
import { LOST_STATUSES } from '../../core/executions/execution-statuses.ts';
import { logger } from '../../core/observability.ts';
import { endsEarly } from '../time-limit.ts';

/** The fields used of a "Step Functions Execution Status Change" event. */
const ExecutionEnded = z.object({
  detail: z.object({
    status: z.enum(LOST_STATUSES),
    input: z.string(),
  }),
});
const ExecutionInput = z.object({ requestId: z.string() });

/**
 * Repairs one request when its execution failed, timed out or was stopped. Throws when it cannot, or its time runs
 * out: Lambda then delivers the event again.
 */
export const handler = middy<unknown, void>(
  endsEarly(1_000, () => {
    throw new Error('The function ran out of time.');
  }),
)
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => {
    const { input, status } = ExecutionEnded.parse(event).detail;
    const { requestId } = ExecutionInput.parse(JSON.parse(input));
    logger.appendKeys({ requestId });
    await reconcileRequest(requestId, systemClock, status);
  });
