import { setTimeout as pause } from 'node:timers/promises';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { requiredEnv } from '../../core/environment.ts';
import { logger } from '../../core/observability.ts';
import { reconcileAll, reconcileExpiry, reconcileRequest } from '../../core/workflow/reconcile.ts';
import { providerRouteOf } from '../../providers/registry.ts';

/** The schedule's own input: how often to look, in seconds. */
const Scheduled = z.object({ everySeconds: z.number().check(z.positive()) });

/** "Step Functions Execution Status Change", as far as it matters here. */
const ExecutionEnded = z.object({
  detail: z.object({ status: z.string(), stateMachineArn: z.string(), input: z.string() }),
});
const ExecutionInput = z.object({ requestId: z.string() });

/** The shortest interval of a schedule. Shorter ones are kept by looking several times in one run. */
const SCHEDULE_SECONDS = 60;
/** A run ends before the next one begins. */
const RUN_MS = 55_000;

/**
 * Looks after requests that have lost, or never had, an execution: all of them on a schedule, one when its
 * execution has failed, timed out or been stopped.
 */
export const handler = middy<unknown, void>()
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => {
    const ended = ExecutionEnded.safeParse(event);
    if (!ended.success) return lookAround(Scheduled.parse(event).everySeconds);
    const { stateMachineArn, input, status } = ended.data.detail;
    const { requestId } = ExecutionInput.parse(JSON.parse(input));
    logger.appendKeys({ requestId });
    if (stateMachineArn === requiredEnv('EXPIRY_STATE_MACHINE_ARN'))
      return reconcileExpiry(requestId, status);
    return reconcileRequest(requestId);
  });

const lookAround = async (everySeconds: number): Promise<void> => {
  const endsAt = Date.now() + RUN_MS;
  for (;;) {
    const dueAt = Date.now() + everySeconds * 1000;
    await reconcileAll(providerRouteOf, () => Date.now() < endsAt);
    const nextAt = Math.max(dueAt, Date.now());
    if (everySeconds >= SCHEDULE_SECONDS || nextAt >= endsAt) return;
    await pause(nextAt - Date.now());
  }
};
