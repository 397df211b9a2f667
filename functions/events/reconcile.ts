import { setTimeout as pause } from 'node:timers/promises';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { systemClock } from '../../core/clock.ts';
import { logger } from '../../core/observability.ts';
import { sweepRoutes } from '../../core/workflow/capacity.ts';
import { reconcileDue } from '../../core/workflow/reconcile-due.ts';
import { startExpiryIfDue } from '../../core/workflow/start-expiry.ts';
import { surveyWork } from '../../core/workflow/survey-work.ts';
import { providerRouteOf } from '../../providers/registry.ts';
import { endsEarly } from '../time-limit.ts';

/** The schedule's input: the interval between two passes, in seconds. */
const Scheduled = z.object({ everySeconds: z.number().check(z.positive()) });

/** The shortest interval of an EventBridge schedule. For a shorter one, a run makes several passes. */
const SCHEDULE_SECONDS = 60;
/** A run stops before the next one starts. */
const RUN_MS = 55_000;

/**
 * Looks, on a schedule, at the work that is due, starts the expiry of files, and reports how much is open. A run that is not done in time logs and ends: the next one goes on.
 */
export const handler = middy<unknown, void>(endsEarly(1_000, () => undefined))
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => reconcileOnSchedule(Scheduled.parse(event).everySeconds));

const reconcileOnSchedule = async (everySeconds: number): Promise<void> => {
  const stopAtMs = Date.now() + RUN_MS;
  await Promise.all([surveyWork(everySeconds), makePasses(everySeconds, stopAtMs)]);
};

const makePasses = async (everySeconds: number, stopAtMs: number): Promise<void> => {
  for (;;) {
    const dueAtMs = Date.now() + everySeconds * 1000;
    await Promise.all([
      startExpiryIfDue(everySeconds),
      reconcileDue(providerRouteOf, () => Date.now() < stopAtMs),
      sweepRoutes(() => Date.now() < stopAtMs, systemClock),
    ]);
    const nextAtMs = Math.max(dueAtMs, Date.now());
    if (everySeconds >= SCHEDULE_SECONDS || nextAtMs >= stopAtMs) return;
    await pause(nextAtMs - Date.now());
  }
};
