import { setTimeout as pause } from 'node:timers/promises';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { requiredEnv } from '../../core/environment.ts';
import { logger } from '../../core/observability.ts';
import { reconcileExpiry, reconcileRequest } from '../../core/workflow/reconcile.ts';
import { reconcileDue } from '../../core/workflow/reconcile-due.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { endsEarly } from '../time-limit.ts';

/** The schedule's input: the interval between two passes, in seconds. */
const Scheduled = z.object({ everySeconds: z.number().check(z.positive()) });

/** The fields used of a "Step Functions Execution Status Change" event. */
const ExecutionEnded = z.object({
  detail: z.object({ status: z.string(), stateMachineArn: z.string(), input: z.string() }),
});
const ExecutionInput = z.object({ requestId: z.string() });

/** The shortest interval of an EventBridge schedule. For a shorter one, a run makes several passes. */
const SCHEDULE_SECONDS = 60;
/** A run stops before the next one starts. */
const RUN_MS = 55_000;

/**
 * Looks at the work that is due on a schedule, and at one request when its execution failed, timed out or was
 * stopped. A run that is not done in time logs and ends: the next one goes on.
 */
export const handler = middy<unknown, void>(endsEarly(1_000, () => undefined))
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => {
    const ended = ExecutionEnded.safeParse(event);
    if (!ended.success) return reconcileOnSchedule(Scheduled.parse(event).everySeconds);
    const { stateMachineArn, input, status } = ended.data.detail;
    const { requestId } = ExecutionInput.parse(JSON.parse(input));
    logger.appendKeys({ requestId });
    if (stateMachineArn === requiredEnv('EXPIRY_STATE_MACHINE_ARN'))
      return reconcileExpiry(requestId, status);
    await reconcileRequest(requestId);
  });

const reconcileOnSchedule = async (everySeconds: number): Promise<void> => {
  const stopAtMs = Date.now() + RUN_MS;
  for (;;) {
    const dueAtMs = Date.now() + everySeconds * 1000;
    await reconcileDue(providerRouteOf, () => Date.now() < stopAtMs);
    const nextAtMs = Math.max(dueAtMs, Date.now());
    if (everySeconds >= SCHEDULE_SECONDS || nextAtMs >= stopAtMs) return;
    await pause(nextAtMs - Date.now());
  }
};
